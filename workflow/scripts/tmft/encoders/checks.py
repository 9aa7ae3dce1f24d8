"""Checkpoints that load, but not as what they are: what transformers would leave out without a word."""

import inspect
import json
import re
from collections.abc import Collection
from importlib import import_module
from pathlib import Path

import transformers
from transformers import AutoConfig, PreTrainedConfig

from tmft.runtime.errors import InputError

HEAD = re.compile(
    r"^(\w+\.)?(pooler|cls|classifier|pre_classifier|sop_classifier|qa_outputs|score|predictions|lm_head|head|decoder|"
    r"lm_predictions|mask_predictions|discriminator_predictions|generator_predictions|generator_lm_head|"
    r"vocab_transform|vocab_layer_norm|vocab_projector)(\.|$)|(^|\.)embeddings\.(position_ids|token_type_ids)$|"
    r"^deberta\.embeddings\.position_embeddings\.weight$"  # of a DeBERTa-v2 whose positions are all relative
)
"""Names of tensors of heads and poolers, and of what older versions of transformers stored beside the weights."""

HARMLESS = """
    classifier_activation classifier_bias classifier_dropout classifier_pooling decoder_bias
    deterministic_flash_attn directionality do_lower_case down_scale_factor gap_size language model_name name
    net_structure_type num_memory_blocks pooler_dropout pooler_fc_size pooler_hidden_act pooler_hidden_size
    pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type qa_dropout
    reference_compile repad_logits_with_grad seq_classif_dropout sparse_pred_ignore_index sparse_prediction
    summary_activation summary_first_dropout summary_last_dropout summary_type summary_use_proj tie_weights_
    vocab_file

    _attn_implementation _name_or_path _num_labels adapters add_cross_attention architectures
    attn_implementation auto_map bad_words_ids begin_suppress_tokens bos_token_id chunk_size_feed_forward
    cls_token_id cross_attention_hidden_size decoder_start_token_id diversity_penalty do_sample dtype
    early_stopping encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty finetuning_task
    forced_bos_token_id forced_eos_token_id gradient_checkpointing id2label is_decoder is_encoder_decoder
    label2id length_penalty max_length min_length no_repeat_ngram_size num_beam_groups num_beams num_labels
    num_return_sequences output_attentions output_hidden_states output_past output_scores pad_token_id prefix
    problem_type remove_invalid_values repetition_penalty return_dict return_dict_in_generate sep_token_id
    suppress_tokens task_specific_params temperature tf_legacy_loss tie_encoder_decoder tie_word_embeddings
    tokenizer_class top_k top_p torch_dtype torchscript transformers_version typical_p use_bfloat16 use_cache
    xla_device
"""
"""Keys of config.json that change no encoder: of heads and poolers first, then of generation and of the library."""

DEFAULTS = {"position_embedding_type": "absolute"}
"""Keys that change nothing with these values, which are what this version does in any case."""


def check_settings(folder: Path) -> None:
    """Raise InputError where config.json has a key that transformers would ignore, and that may mean something."""
    path = folder / "config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    config = AutoConfig.for_model(settings["model_type"])
    known = {"model_type", *config.to_dict(), *config.attribute_map, *HARMLESS.split()} | _read_keys(type(config))
    for key, value in settings.items():
        if key not in known and (key not in DEFAULTS or value != DEFAULTS[key]):
            raise InputError(
                f"{path}: transformers {transformers.__version__} ignores {key} ({value!r}), so that the encoder would "
                "not be what it was; remove the key if it does not change the encoder"
            )


def _read_keys(config: type[PreTrainedConfig]) -> set[str]:
    """All names in the code of an architecture: some keys are read there without being declared."""
    modules = (config.__module__, config.__module__.replace(".configuration_", ".modeling_"))
    return {name for module in modules for name in re.findall(r"\w+", inspect.getsource(import_module(module)))}


def check_prefix(folder: Path, wanted: Collection[str], unexpected: Collection[str]) -> None:
    """Raise InputError for weights all of whose tensors have one more prefix, as those of a wrapped model."""
    for name in wanted:
        for prefix in {key.removesuffix(name) for key in unexpected if key.endswith(f".{name}")}:
            if all(key.startswith(prefix) for key in unexpected):
                raise InputError(
                    f"{folder}: all tensors have the prefix '{prefix}'; save the weights of the encoder without it"
                )


def check_unused(folder: Path, unexpected: Collection[str]) -> None:
    """Raise InputError for a tensor that is neither the encoder's nor a known head's or pooler's."""
    for name in sorted(unexpected):
        if not HEAD.search(name):
            raise InputError(
                f"{folder}: transformers {transformers.__version__} does not use the tensor {name}, so that the "
                "encoder would not be what it was; remove the tensor if it is part of a head"
            )
