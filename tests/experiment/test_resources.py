"""What jobs ask a scheduler for: memory and time from the encoder's size, more at each attempt, for every rule."""

import re

import pytest
from pipeline_runs import CONFIG, FIGURE, snakemake
from transformers import BertConfig, BertModel

from tmft.experiment.resources import DAY, FINETUNING_SENTENCES, folder_mb, memory_mb, minutes, pretraining_mb

BASE, LARGE = 440.0, 1340.0  # MB of weights


def test_memory_grows_with_the_encoder_and_the_attempt():
    assert memory_mb(BASE, 1) > 5 * BASE
    assert memory_mb(LARGE, 1) - memory_mb(BASE, 1) == pytest.approx(10 * (LARGE - BASE))
    assert [memory_mb(BASE, attempt) / memory_mb(BASE, 1) for attempt in (2, 3)] == [2, 3]


def test_time_grows_with_encoder_units_and_attempt_up_to_a_day():
    def asked(weights: float = BASE, units: int = 1, gpu: bool = True, attempt: int = 1) -> int:
        return minutes(weights, units * FINETUNING_SENTENCES, gpu, attempt)

    assert asked() < asked(LARGE) < asked(LARGE, units=2) < asked(LARGE, units=2, attempt=2) < DAY
    assert asked() < asked(gpu=False)
    assert asked(LARGE, units=25, gpu=False, attempt=3) == DAY


def test_size_of_an_encoder_is_that_of_its_folder(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(bytes(3_000_000))
    (tmp_path / "config.json").write_bytes(bytes(500_000))
    assert folder_mb(str(tmp_path)) == 3.5


def test_size_of_a_pretraining_is_that_of_its_encoders():
    sizes = {"layers": 3, "hidden_size": 64, "intermediate_size": 256, "embedding_size": 64}
    shape = {"num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 256}
    config = BertConfig(vocab_size=1000, max_position_embeddings=64, **shape)
    weights = 4 * sum(tensor.numel() for tensor in BertModel(config, add_pooling_layer=False).parameters()) / 1e6
    bert = pretraining_mb({"objective": "masked_language_modelling"} | sizes, 1000)
    electra = pretraining_mb({"objective": "replaced_token_detection", "generator": sizes} | sizes, 1000)
    assert bert == pytest.approx(weights, rel=0.2)
    assert electra - bert == pytest.approx(bert - 4 * 1000 * 64 / 1e6)


def test_on_slurm_every_job_asks_for_memory_and_time(root, tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG)
    profile = ["--workflow-profile", "profiles/slurm"]
    run = snakemake(tmp_path, "-n", *profile, "--default-resources", "slurm_account=other", "--", FIGURE, root=root)
    assert run.returncode == 0, run.stdout
    asked = re.findall(r"^rule (\w+):.*?resources: ([^\n]*)", run.stdout, re.MULTILINE | re.DOTALL)
    assert {rule for rule, _ in asked} >= {
        "write_scene_pairs",
        "pretrain_electra",
        "finetune",
        "draw_figure",
    }
    for rule, resources in asked:
        assert "mem_mb=" in resources and "runtime=" in resources and "slurm_account=other" in resources, rule
