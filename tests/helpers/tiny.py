"""Tiny random encoders, saved with a tokenizer, for the tests."""

import string
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

BERT_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
ROBERTA_TOKENS = {
    "cls_token": "<s>",
    "pad_token": "<pad>",
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}
WORDS = "a an the man woman dog cat bird child plays eats sees sleeps runs in on with not two red small park house"

DEBERTA_V3 = {
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_buckets": 8,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
}
FAMILY_SETTINGS = {
    "albert": {"embedding_size": 16},
    "bert": {},
    "deberta-v2": DEBERTA_V3,
    "distilbert": {"hidden_dim": 64},
    "electra": {"embedding_size": 16},
    "modernbert": {"local_attention": 8, "global_attn_every_n_layers": 2},
    "mpnet": {},
    "roberta": {"type_vocab_size": 1},
    "xlm-roberta": {"type_vocab_size": 1},
}


def tiny_encoder(family: str, folder: Path, layers: int = 4, **config_overrides) -> Path:
    """Save a random encoder of a family (its `model_type`) and its tokenizer into `folder`, and return that.

    The same arguments give the same weights. Norms and biases are random too, and weights large enough for each layer
    to change its input. The tokenizer has no maximum length; the encoder has 40 positions.
    """
    tokenizer = tiny_tokenizer(family)
    tokenizer.save_pretrained(folder)
    settings = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 40,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "cls_token_id": tokenizer.cls_token_id,
        "sep_token_id": tokenizer.sep_token_id,
    }
    if family == "distilbert":
        del settings["intermediate_size"]  # its own name is hidden_dim
    config = AutoConfig.for_model(family, **settings | FAMILY_SETTINGS[family] | config_overrides)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = AutoModel.from_config(config)
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn(parameter.shape)
    model.save_pretrained(folder)
    return folder


def tiny_tokenizer(family: str) -> PreTrainedTokenizerFast:
    """A lower-casing WordPiece tokenizer of common words and letters with the special tokens of a family.

    It returns token types but for RoBERTa, XLM-R and MPNet.
    """
    like_roberta = family in ("roberta", "xlm-roberta", "mpnet")
    special = ROBERTA_TOKENS if like_roberta else BERT_TOKENS
    inputs = ["input_ids", "attention_mask"] if like_roberta else ["input_ids", "token_type_ids", "attention_mask"]
    letters = [*string.ascii_lowercase, *string.digits, ".", ","]
    vocabulary = dict.fromkeys([*special.values(), *WORDS.split(), *letters, *(f"##{letter}" for letter in letters)])
    vocabulary = {token: index for index, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=special["unk_token"]))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single=f"{special['cls_token']} $A {special['sep_token']}",
        special_tokens=[(token, vocabulary[token]) for token in (special["cls_token"], special["sep_token"])],
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=inputs, **special)
