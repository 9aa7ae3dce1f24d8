"""Which tokens a model has to recover, and what it sees in their place."""

from typing import Any

import torch
from torch import Tensor

from tmft.pretraining.vocabulary import Vocabulary


def mask(
    ids: Tensor, vocabulary: Vocabulary, settings: dict[str, Any], generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Choose ordinary tokens with ``mask_probability`` each and hide them (Devlin et al. 2019, section 3.1).

    Of the chosen tokens ``mask_share`` become the mask token, ``random_share`` an ordinary token drawn at random, and
    the rest stay as they are. Returns, shaped as ``ids``, what the model sees and where tokens were chosen.
    """
    chosen = torch.rand(ids.shape, generator=generator) < settings["mask_probability"]
    chosen &= ~torch.isin(ids, vocabulary.special)
    fate = torch.rand(ids.shape, generator=generator)
    random = vocabulary.ordinary[torch.randint(len(vocabulary.ordinary), ids.shape, generator=generator)]
    substitute = torch.where(fate < settings["mask_share"], vocabulary.mask, random)
    hidden = chosen & (fate < settings["mask_share"] + settings["random_share"])
    return torch.where(hidden, substitute, ids), chosen
