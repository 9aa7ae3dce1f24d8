"""The truncated encoder: a pre-trained encoder cut after a layer, its sentence vectors the mean over the tokens."""

import copy
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import BaseModelOutput
from transformers.utils import logging

from tmft.encoders.checks import check_prefix, check_unused
from tmft.encoders.dropout import use_fast_dropout
from tmft.experiment.layers import Layer, check, count, kept
from tmft.runtime.errors import InputError


def run_masked(
    model: PreTrainedModel, ids: Tensor, positions: Tensor, together: Tensor, **options: bool
) -> BaseModelOutput:
    """The model's output where each token attends to those that ``together``, (rows, 1, tokens, tokens), allows."""
    return model(input_ids=ids, position_ids=positions, attention_mask=together, **options)


def run_mpnet(
    model: PreTrainedModel, ids: Tensor, positions: Tensor, together: Tensor, **options: bool
) -> BaseModelOutput:
    """As run_masked; MPNet adds the mask to the scores."""
    added = torch.zeros(together.shape, device=together.device).masked_fill(~together, -math.inf)
    return run_masked(model, ids, positions, added, **options)


def run_modernbert(
    model: PreTrainedModel, ids: Tensor, positions: Tensor, together: Tensor, **options: bool
) -> BaseModelOutput:
    """As run_masked; some of ModernBERT's layers attend to near tokens only."""
    places = torch.arange(ids.shape[1], device=ids.device)
    near = (places - places.unsqueeze(1)).abs() <= model.config.sliding_window
    masks = {"full_attention": together, "sliding_attention": together & near}
    return model(input_ids=ids, position_ids=positions, attention_mask=masks, **options)


def run_deberta(
    model: PreTrainedModel, ids: Tensor, positions: Tensor, together: Tensor, **options: bool
) -> BaseModelOutput:
    """As run_masked; DeBERTa as a whole takes none but a padding mask, which its embeddings do without."""
    return model.encoder(model.embeddings(ids, position_ids=positions), together, **options)


@dataclass(frozen=True)
class Family:
    """How an architecture differs from the plainest one; the strings are module paths in its transformers model."""

    encoder: str = "encoder"  # what layer 0 does without
    projection: str | None = None  # from the embeddings to the hidden size, where the two may differ
    final_norm: str | None = None  # applied to the last layer only
    pooler: bool = False  # whether the model has a pooler unless told otherwise
    positions: bool = True  # whether the embeddings hold positions
    run: Callable[..., BaseModelOutput] = run_masked


FAMILIES: dict[str, Family] = {
    "albert": Family(
        encoder="encoder.albert_layer_groups", projection="encoder.embedding_hidden_mapping_in", pooler=True
    ),
    "bert": Family(pooler=True),
    "deberta-v2": Family(run=run_deberta),
    "distilbert": Family(encoder="transformer"),
    "electra": Family(projection="embeddings_project"),
    "modernbert": Family(encoder="layers", final_norm="final_norm", positions=False, run=run_modernbert),
    "mpnet": Family(pooler=True, run=run_mpnet),
    "roberta": Family(pooler=True),
    "xlm-roberta": Family(pooler=True),
}
"""The supported architectures, by the `model_type` of their config."""

UNREADABLE = (OSError, EOFError, LookupError, RuntimeError, ValueError, SafetensorError, UnpicklingError)
"""What transformers and torch raise for a damaged weights file, one that is more than tensors, or none at all."""

LAYER_TENSOR = re.compile(r"layer(?:s|_groups)?\.(\d+)\.")


class TruncatedEncoder(nn.Module):
    """The first layers of an encoder, or a subset, and the mean of their output over the tokens of a sentence.

    Layer l is `hidden_states[l]` of the whole encoder. For ELECTRA and ALBERT layer 0 is thus the embeddings after
    their projection to the hidden size. ModernBERT ends in a norm that its inner hidden states have not passed; a
    truncated ModernBERT keeps it at every layer, 0 included, so that layer l is `final_norm(hidden_states[l])`.
    Token types are never passed: a single sentence has type 0 throughout.
    """

    def __init__(self, model: PreTrainedModel, layer: int) -> None:
        """Wrap a transformers model of `layer` layers, built by `truncated_config`; use `load` for one in a folder."""
        super().__init__()
        if layer == 0:
            model.set_submodule(FAMILIES[model.config.model_type].encoder, nn.Identity())
            model.config.num_hidden_layers = 0
        use_fast_dropout(model)
        self.model = model
        self.layer = layer
        self.hidden_size: int = model.config.hidden_size

    @classmethod
    def load(
        cls, folder: Path, layer: Layer, random_seed: int | None = None, all_used: bool = False
    ) -> "TruncatedEncoder":
        """The encoder in `folder` with the layers that `layer` keeps, on the CPU, in float32 and in evaluation mode.

        Layers above the last one kept, pooler and heads are not built. With `random_seed` the checkpoint is not read:
        the weights are those of a fresh initialisation of the whole architecture, so that a seed is one random encoder
        whatever the layer. The state of the global random number generators is left as it was. With ``all_used`` each
        tensor of the checkpoint must be used, or belong to a layer above, a head or a pooler.

        Raises InputError for an unusable config, a layer that the encoder does not have, and weights that cannot be
        read, lack a tensor, hold one too many or do not fit the config.
        """
        config = read_config(folder)
        try:
            check_layer(config, layer)
        except InputError as error:
            raise InputError(f"{folder}: {error}") from None
        end = max(kept(layer), default=0)
        if random_seed is not None:
            return cls(_random_model(config, end, random_seed), end)._keep(layer)
        try:
            with _quiet_transformers():
                model, report = AutoModel.from_pretrained(
                    folder,
                    config=truncated_config(config, end),
                    dtype=torch.float32,
                    output_loading_info=True,
                    ignore_mismatched_sizes=True,
                    local_files_only=True,
                    trust_remote_code=False,
                    **_without_pooler(config),
                )
        except UNREADABLE as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split()).partition('. ')[0]}"
            raise InputError(f"{folder}: cannot be loaded ({reason}); fetch the encoder again") from error
        stored = model.state_dict().keys() - report["missing_keys"] | report["unexpected_keys"]
        encoder = cls(model, end)
        check_prefix(folder, encoder.model.state_dict(), report["unexpected_keys"])
        _check_weights(folder, config, encoder.model, stored, report["mismatched_keys"])
        if all_used:
            check_unused(folder, report["unexpected_keys"])
        return encoder._keep(layer)

    def _keep(self, layer: Layer) -> "TruncatedEncoder":
        """This encoder, which ends with the last layer kept, without those that a subset leaves out, not training."""
        if count(layer) < self.layer:
            places = [number - 1 for number in kept(layer)]
            name, layers = layer_list(self.model)
            self.model.set_submodule(name, nn.ModuleList(layers[place] for place in places))
            _keep_layers(self.model.config, places)
            self.layer = len(places)
        return self.eval()

    @property
    def packs(self) -> bool:
        """Whether sentences can share a row; a convolution over the tokens (DeBERTa-v2 xlarge) would mix them."""
        return self.layer == 0 or not getattr(self.model.config, "conv_kernel_size", 0)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, sentences: int | None = None) -> Tensor:
        """Sentence vectors, (n, hidden_size) in float32, of token ids in rows, (rows, tokens).

        ``attention_mask``, of the same shape, is 0 at padding. Without ``sentences`` it is 1 elsewhere, and each row
        one sentence. With it, n sentences share rows, each in one piece: the mask says which, from 1 to n.
        """
        if self.layer == 0:
            return self.layerwise_vectors(input_ids, attention_mask, sentences)[0]
        numbers, count = _numbered(attention_mask, sentences)
        return mean_pooling(self._run(input_ids, numbers, sentences is not None).last_hidden_state, numbers, count)

    def layerwise_vectors(self, input_ids: Tensor, attention_mask: Tensor, sentences: int | None = None) -> Tensor:
        """Sentence vectors of the layers 0..`layer` from one pass: (layer + 1, n, hidden_size).

        Row l is what this encoder truncated at l returns.
        """
        packed = sentences is not None
        numbers, count = _numbered(attention_mask, sentences)
        if self.layer == 0:
            positions = {"position_ids": self._positions(numbers)} if packed and self._family.positions else {}
            embeddings = self.model.embeddings(input_ids, **positions)
            layers = [self.norm(self._module(self._family.projection)(embeddings))]
        else:
            *inner, last = self._run(input_ids, numbers, packed, output_hidden_states=True).hidden_states
            layers = [*map(self.norm, inner), last]
        return torch.stack([mean_pooling(states, numbers, count) for states in layers])

    def _run(self, input_ids: Tensor, numbers: Tensor, packed: bool, **options: bool) -> BaseModelOutput:
        """The model's output with attention confined to each sentence."""
        if not (packed and self.packs):
            return self.model(input_ids=input_ids, attention_mask=(numbers > 0).long(), **options)
        together = numbers.unsqueeze(1) == numbers.unsqueeze(2)
        return self._family.run(self.model, input_ids, self._positions(numbers), together.unsqueeze(1), **options)

    def _positions(self, numbers: Tensor) -> Tensor:
        """Position of each token in its sentence, as the embeddings count it; padding is at the first."""
        places = torch.arange(numbers.shape[1], device=numbers.device)
        first = numbers != numbers.roll(1, dims=1)
        first[:, 0] = True
        positions = places - (places * first).cummax(dim=1).values
        return positions * (numbers > 0) + _first_position(self.model.embeddings)

    @property
    def _family(self) -> Family:
        return FAMILIES[self.model.config.model_type]

    def _module(self, path: str | None) -> nn.Module:
        return dict(self.model.named_modules()).get(path, nn.Identity())

    def norm(self, states: Tensor) -> Tensor:
        """A layer's output (rows, tokens, hidden) as the last layer's leaves the encoder."""
        return self._module(self._family.final_norm)(states)


class ParameterCount(NamedTuple):
    """Numbers of parameters of a truncated encoder."""

    published: int
    """Embeddings (word, position, token type, their norm) and the first l layers, as in Table 2 of the paper."""
    total: int
    """All that the truncated encoder holds: the above, projections, relative positions, ModernBERT's final norm."""


def mean_pooling(states: Tensor, numbers: Tensor, sentences: int) -> Tensor:
    """Mean over the tokens of each sentence, (sentences, hidden) in float32 whatever the type of `states`.

    ``states`` are (rows, tokens, hidden); ``numbers``, (rows, tokens), says whose token each is, from 1; 0 is padding.
    A sentence without any token gives zeros.
    """
    numbers, states = numbers.flatten(), states.flatten(0, 1).float()
    sums = states.new_zeros(sentences + 1, states.shape[1]).index_add(0, numbers, states)
    counts = states.new_zeros(sentences + 1).index_add(0, numbers, torch.ones_like(states[:, 0]))
    return sums[1:] / counts[1:, None].clamp(min=1)


def check_family(settings: Mapping[str, Any]) -> None:
    """Refuse a config (the content of a config.json) whose architecture cannot be truncated, by an InputError."""
    model_type = settings.get("model_type")
    if model_type is None:
        raise InputError("no model_type; name the architecture as the encoder's `family` in the configuration")
    if model_type not in FAMILIES:
        raise InputError(f"model_type {model_type!r} is not supported; the supported ones are {', '.join(FAMILIES)}")
    for key in ("num_hidden_groups", "inner_group_num"):
        if model_type == "albert" and settings.get(key, 1) != 1:
            raise InputError(f"an ALBERT with {key} = {settings[key]} is not supported, only layers of equal weights")


def read_config(folder: Path) -> PreTrainedConfig:
    """The config of the encoder in `folder`; InputError if it is missing, unreadable or of an unsupported family."""
    path = folder / "config.json"
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        check_family(settings)
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; an encoder folder holds config, tokenizer and weights") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, StrictDataclassError) as error:
        raise InputError(f"{path}: not a valid config ({' '.join(str(error).split())})") from error


def check_layer(config: PreTrainedConfig, layer: Layer) -> None:
    """Raise InputError where an encoder of this config does not have the layer, or cannot be built of that subset."""
    check(layer, config.num_hidden_layers)
    if isinstance(layer, str) and config.model_type == "albert":
        raise InputError(f"all layers of an ALBERT are one, so that {layer} is layer{count(layer)}; write it so")
    if isinstance(layer, str) and config.model_type == "modernbert" and kept(layer)[0] > 1:
        raise InputError(f"{layer}: the first layer of a ModernBERT is unlike the others; keep layer 1")


def check_keepable(folder: Path, layer: int) -> None:
    """Refuse, by an InputError, a truncated encoder that could not be loaded again once it is saved."""
    if layer == 0 and read_config(folder).model_type == "modernbert":
        raise InputError(f"{folder}: a ModernBERT without layers cannot be saved; leave layer 0 out of what needs it")


def depth(folder: Path) -> int:
    """Number of layers L of the encoder in `folder`; its layers are 0..L."""
    return read_config(folder).num_hidden_layers


def usable_length(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase) -> int:
    """The largest number of tokens, special ones included, that tokenizer and encoder can take.

    RoBERTa, XLM-R and MPNet number their positions from padding index + 1, so they have fewer than their config says.
    """
    first_position = _first_position(_meta_encoder(config, 0).model.embeddings)
    return min(tokenizer.model_max_length, config.max_position_embeddings - first_position)


def count_parameters(config: PreTrainedConfig, layer: Layer) -> ParameterCount:
    """Numbers of parameters with `layer`, by the paper's rule (Table 2) and in all; no weights are allocated."""
    sizes = {name: tensor.numel() for name, tensor in _meta_encoder(config, layer).model.named_parameters()}
    published = sum(size for name, size in sizes.items() if name.startswith("embeddings.") or LAYER_TENSOR.search(name))
    return ParameterCount(published, sum(sizes.values()))


def truncated_config(config: PreTrainedConfig, layer: Layer) -> PreTrainedConfig:
    """A copy of `config` with these layers, but at least one: a ModernBERT without any cannot be initialised."""
    config = copy.deepcopy(config)
    _keep_layers(config, [number - 1 for number in kept(layer)] or [0])
    return config


def _keep_layers(config: PreTrainedConfig, places: list[int]) -> None:
    """Leave in a config, its lists by layer included, the layers at these places, counted from 0."""
    depth = config.num_hidden_layers
    lists = [name for name, value in vars(config).items() if "layer" in name and isinstance(value, list)]
    by_layer = {name: values for name in lists if len(values := getattr(config, name)) == depth}
    config.num_hidden_layers = len(places)
    for name, values in by_layer.items():
        setattr(config, name, [values[place] for place in places])


def layer_list(model: PreTrainedModel) -> tuple[str, nn.ModuleList]:
    """The path and the list of a model's layers."""
    lists = ((name, module) for name, module in model.named_modules() if isinstance(module, nn.ModuleList))
    return next((name, module) for name, module in lists if LAYER_TENSOR.search(f"{name}.0."))


def _first_position(embeddings: nn.Module) -> int:
    return getattr(embeddings, "padding_idx", -1) + 1


def _numbered(attention_mask: Tensor, sentences: int | None) -> tuple[Tensor, int]:
    """The mask as numbers of sentences and how many there are; without ``sentences`` each row is one."""
    if sentences is not None:
        return attention_mask, sentences
    rows = len(attention_mask)
    return attention_mask * torch.arange(1, rows + 1, device=attention_mask.device).unsqueeze(1), rows


def _without_pooler(config: PreTrainedConfig) -> dict[str, bool]:
    return {"add_pooling_layer": False} if FAMILIES[config.model_type].pooler else {}


def _new_model(config: PreTrainedConfig) -> PreTrainedModel:
    return AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False, **_without_pooler(config))


def _meta_encoder(config: PreTrainedConfig, layer: Layer) -> TruncatedEncoder:
    """The truncated encoder without storage behind its tensors."""
    with torch.device("meta"):
        return TruncatedEncoder(_new_model(truncated_config(config, layer)), count(layer))


def _random_model(config: PreTrainedConfig, layer: int, seed: int) -> PreTrainedModel:
    """A truncated model with the weights of a seeded initialisation of the whole one."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        whole = _new_model(copy.deepcopy(config))
        model = _new_model(truncated_config(config, layer))
    model.load_state_dict(whole.state_dict(), strict=False)
    return model


def _check_weights(
    folder: Path, config: PreTrainedConfig, model: PreTrainedModel, stored: set[str], mismatched: set[tuple]
) -> None:
    """Compare the names of the stored tensors, and those of another shape, with what config and model ask for."""
    layers = len({match[1] for name in stored if (match := LAYER_TENSOR.search(name))})
    expected = min(config.num_hidden_layers, getattr(config, "num_hidden_groups", config.num_hidden_layers))
    if layers != expected:
        raise InputError(f"{folder}: the weights hold {layers} layers, config.json says {expected}; correct that")
    for name in model.state_dict():
        if name not in stored:
            raise InputError(f"{folder}: the weights lack the tensor {name}; fetch the encoder again")
    for name, found, wanted in sorted(mismatched):
        raise InputError(
            f"{folder}: the tensor {name} is of shape {tuple(found)}, by config.json {tuple(wanted)}; correct that"
        )


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """No report of the tensors left out on purpose, no bar for a load of a second."""
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()
