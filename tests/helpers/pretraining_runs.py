"""What tests of pre-training share: settings, and sentences with habits that can be learned."""

import random

SETTINGS = {
    "layers": 2,
    "hidden_size": 32,
    "attention_heads": 4,
    "intermediate_size": 64,
    "embedding_size": 16,
    "generator": {"layers": 2, "hidden_size": 24, "attention_heads": 2, "intermediate_size": 32},
    "max_length": 16,
    "dropout": 0.0,
    "mask_probability": 0.15,
    "mask_share": 0.8,
    "random_share": 0.1,
    "discriminator_weight": 50.0,
    "batch_size": 16,
    "steps": 3,
    "snapshots": [],
    "learning_rate": 5e-3,
    "warmup": 0.1,
    "weight_decay": 0.01,
    "betas": [0.9, 0.999],
    "epsilon": 1e-6,
    "clip_norm": 1.0,
}


def sentences(number: int) -> list[str]:
    """Sentences of 4 to 14 words in which each animal has a habit of its own."""
    habits = ["the cat sleeps indoors", "the dog barks outside", "an owl hoots above", "a fish swims below"]
    draw = random.Random(0)
    return [" and ".join(draw.choices(habits, k=draw.randint(1, 3))) for _ in range(number)]
