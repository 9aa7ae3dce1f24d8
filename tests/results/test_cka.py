"""CKA: against kernel matrices, what it must not change under, and where it is not defined."""

import json

import numpy as np
import pytest
from scipy.stats import ortho_group

from tmft.results.cka import compare_layers, linear_cka


def kernel_cka(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Biased and unbiased CKA by their definitions on (n, n) kernel matrices."""
    n = len(x)
    centring = np.eye(n) - np.ones((n, n)) / n

    def biased(k: np.ndarray, m: np.ndarray) -> float:
        return np.trace(k @ centring @ m @ centring) / (n - 1) ** 2

    def unbiased(k: np.ndarray, m: np.ndarray) -> float:
        k, m = k - np.diag(np.diag(k)), m - np.diag(np.diag(m))
        ones = np.ones(n)
        total = np.trace(k @ m) + (ones @ k @ ones) * (ones @ m @ ones) / ((n - 1) * (n - 2))
        return (total - 2 / (n - 2) * (ones @ k @ m @ ones)) / (n * (n - 3))

    k, m = x @ x.T, y @ y.T
    return tuple(hsic(k, m) / np.sqrt(hsic(k, k) * hsic(m, m)) for hsic in (biased, unbiased))


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def related(generator) -> tuple[np.ndarray, np.ndarray]:
    """Two sets of features of different widths that have something in common, away from the origin."""
    common = generator.standard_normal((40, 3))
    x = common @ generator.standard_normal((3, 7)) + generator.standard_normal((40, 7)) + 5
    y = common @ generator.standard_normal((3, 11)) + generator.standard_normal((40, 11)) - 2
    return x, y


def test_equals_the_definition_on_kernel_matrices(related):
    found = linear_cka(*related)
    np.testing.assert_allclose((found.biased, found.unbiased), kernel_cka(*related), rtol=1e-10)
    assert found.n == 40 and found.reason is None


def test_is_symmetric_and_one_with_itself(related):
    np.testing.assert_allclose(linear_cka(*related)[1:3], linear_cka(*related[::-1])[1:3])
    np.testing.assert_allclose(linear_cka(related[0], related[0])[1:3], 1)


def test_rotation_scale_and_shift_change_nothing(related):
    x, y = related
    turned = 0.01 * x @ ortho_group.rvs(7, random_state=0) + 3
    np.testing.assert_allclose(linear_cka(turned, y)[1:3], linear_cka(x, y)[1:3])


def test_a_linear_map_that_is_no_rotation_changes_it(related):
    x, y = related
    stretched = x * np.array([100, 1, 1, 1, 1, 1, 1])
    assert abs(linear_cka(stretched, y).biased - linear_cka(x, y).biased) > 0.01


def test_independent_features_look_alike_to_the_biased_estimator_only(generator):
    found = [linear_cka(*generator.standard_normal((2, 64, 768))) for _ in range(20)]
    assert np.mean([alignment.biased for alignment in found]) > 0.9
    unbiased = [alignment.unbiased for alignment in found]
    assert abs(np.mean(unbiased)) < 0.01 and min(unbiased) < 0 < max(unbiased)


@pytest.mark.parametrize("n", [4, 5, 8])
def test_few_sentences_give_numbers_or_a_reason(generator, n):
    for width in (1, 2, 768):
        found = linear_cka(*generator.standard_normal((2, n, width)))
        json.dumps(found, allow_nan=False)
        assert (found.unbiased is None) == (found.reason is not None)
    wide = linear_cka(*generator.standard_normal((2, 8, 768)))
    assert wide.reason is None and abs(wide.unbiased) < 0.5


@pytest.mark.parametrize("constant", [np.zeros(7), np.full(7, 0.1), np.array([1e4, 1, 0, -3, 0.1, 7, 1e-3])])
def test_constant_features_have_no_value_but_a_reason(related, constant):
    x = np.tile(constant.astype(np.float32), (40, 1))
    for pair in ((x, related[1]), (related[1], x)):
        assert linear_cka(*pair) == (40, None, None, "features are constant")


def test_features_constant_but_for_float32_rounding_count_as_constant(related, generator):
    x = np.float32(1) + generator.integers(0, 2, (40, 7)).astype(np.float32) * np.finfo(np.float32).eps
    assert linear_cka(x, related[1]).reason == "features are constant"


def test_features_that_are_not_finite_have_a_reason(related):
    x = related[0].copy()
    x[3, 2] = np.nan
    assert linear_cka(x, related[1])[1:] == (None, None, "features are not finite")


def test_float32_features_are_multiplied_in_float64(related):
    x, y = (features.astype(np.float32) + np.float32(1e4) for features in related)
    found = linear_cka(x, y)
    expected = kernel_cka(
        *(features.astype(np.float64) - features.astype(np.float64).mean(axis=0) for features in (x, y))
    )
    np.testing.assert_allclose((found.biased, found.unbiased), expected, rtol=1e-9)


def test_cost_grows_with_sentences_not_with_their_square(generator):
    """An (n, n) matrix of these would need 320 GB."""
    x = generator.standard_normal((200_000, 3))
    assert linear_cka(x, x).n == 200_000


def test_layers_are_compared_one_by_one(related):
    x, y = related
    layers = compare_layers(np.stack([x, 2 * x, x**2]), np.stack([y, x @ np.ones((7, 11))]))
    assert [layer["layer"] for layer in layers] == [0, 1]
    assert layers[0] == {"layer": 0} | linear_cka(x, y)._asdict()
    assert layers[1] == {"layer": 1} | linear_cka(2 * x, x @ np.ones((7, 11)))._asdict()
