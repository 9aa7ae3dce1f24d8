"""Floating-point operations (FLOPs) of pre-training, counted as Clark et al. 2020 count them.

An operation is a mathematical one, whatever a machine makes of it: an addition, a multiplication and an exponential are
one each, and the product of an (n, m) and an (m, k) matrix is 2 n m k. A look-up in an embedding table is the product
of a one-hot vector with the table. The backward pass counts as much as the forward pass. Padding counts, as it is
computed; sampling and the optimiser do not.

The sizes are those of a BertConfig or ElectraConfig.
"""

from transformers import PretrainedConfig

PASSES = 2  # forward and backward
DROPOUT = 4  # of each number: draw, compare, multiply by the mask and by the correction
GELU = 8  # of each number, in the approximation by tanh
NORM = 5  # of each number: mean, variance (square and sum), scale, bias
SOFTMAX = 5  # of each number: maximum, difference, exponential, sum, quotient


def encoder(config: PretrainedConfig, sentences: int, length: int) -> int:
    """The forward pass of embeddings and layers over ``sentences``, padded to ``length`` tokens."""
    return sentences * length * (_embeddings(config, length) + config.num_hidden_layers * _layer(config, length))


def prediction_head(config: PretrainedConfig, positions: int) -> int:
    """The forward pass of the output layer over the vocabulary, and of its loss, at masked positions."""
    width, vocabulary = _embedding_size(config), config.vocab_size
    transformation = _linear(config.hidden_size, width) + (GELU + NORM) * width
    loss = (SOFTMAX + 2) * vocabulary  # and the product with the one-hot original
    return positions * (transformation + _linear(width, vocabulary) + loss)


def detection_head(config: PretrainedConfig, positions: int) -> int:
    """The forward pass of the discriminator's output layer at scored positions."""
    width = config.hidden_size
    return positions * (_linear(width, width) + GELU * width + _linear(width, 1))


def _embeddings(config: PretrainedConfig, length: int) -> int:
    """Of one token: look-ups of word, type and position, their sum, its norm, and the projection to the layers."""
    width = _embedding_size(config)
    rows = config.vocab_size + config.type_vocab_size + length
    projection = _linear(width, config.hidden_size) if width != config.hidden_size else 0
    return width * (2 * rows + 2 + NORM + _dropout(config)) + projection


def _layer(config: PretrainedConfig, length: int) -> int:
    """Of one token in a sentence of ``length``."""
    width, inner = config.hidden_size, config.intermediate_size
    projections = 4 * _linear(width, width)  # queries, keys, values, output
    products = 2 * 2 * length * width  # of queries and keys, of weights and values
    weights = config.num_attention_heads * length * (1 + SOFTMAX + _dropout(config))  # 1: scale
    feed_forward = _linear(width, inner) + GELU * inner + _linear(inner, width)
    ends = 2 * width * (_dropout(config) + 1 + NORM)  # of attention and feed-forward; 1: residual
    return projections + products + weights + feed_forward + ends


def _linear(inputs: int, outputs: int) -> int:
    return (2 * inputs + 1) * outputs


def _embedding_size(config: PretrainedConfig) -> int:
    return getattr(config, "embedding_size", config.hidden_size)


def _dropout(config: PretrainedConfig) -> int:
    return DROPOUT if config.hidden_dropout_prob else 0
