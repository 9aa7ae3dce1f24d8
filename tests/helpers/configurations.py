"""A valid configuration with every section, and the data sources that it names."""

import yaml

SOURCES = {"stsb-en": {"label_range": [0, 5]}, "nli": {"hub": {}}}
CONFIG = yaml.safe_load("""
seeds: [0, 1]
training: {learning_rate: 2e-5}
encoders:
  bert: {hub: google-bert/bert-base-cased, depth: 3}
  electra: {pretraining: electra, part: discriminator}
  early: {pretraining: electra, part: discriminator, step: 4}
tasks:
  stsb: {source: stsb-en, objective: cosine_regression}
  scenes: {scenes: {train: 40, validation: 10, test: 10}, objective: cosine_regression}
  paraphrase: {scenes: {kind: paraphrase, train: 40, validation: 10, test: 10}, objective: cosine_logit}
  entailment: {scenes: {kind: entailment, train: 40, validation: 10, test: 10}, objective: difference_classification}
  words: {scenes: {kind: words, train: 40, validation: 10, test: 10}, objective: cosine_regression}
recipes:
  tmft: {kind: finetune, training: {epochs: 3, weight_decay: 1e-3}}
  frozen: {kind: frozen}
  first: {kind: finetune}
  ws: {kind: finetune, start: {task: words, recipe: first}}
  dapt: {kind: frozen, start: {adaptation: lines}}
adaptation:
  lines: {corpus: lines}
corpora:
  lines: {path: lines.txt}
tokenizers:
  words: {corpus: lines, size: 100}
pretraining:
  electra: {objective: replaced_token_detection, corpus: lines, tokenizer: words, steps: 10, layers: 2, snapshots: [4]}
figures:
  curve: {kind: layer_curve, task: stsb, recipes: [tmft, frozen], encoders: [bert]}
  sizes: {kind: pareto, task: stsb, recipe: tmft, families: {A: [bert], B: [electra]}}
  cost: {kind: cost_curve, task: stsb, recipe: tmft, encoders: [bert]}
  alike: {kind: cka_curve, task: stsb, encoders: [bert, electra]}
  learning: {kind: pretraining_efficiency, tasks: [scenes, stsb], recipe: tmft, lines: {RTD: [early, electra]}}
  method: {kind: method}
tables:
  table: {task: stsb, recipes: [tmft], encoders: [bert]}
looks:
  house: {colour: "#336699", marker: o}
""")
