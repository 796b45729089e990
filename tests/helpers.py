"""What several tests need: search spaces, random scores."""

import numpy as np

SPACES = {
    "flat": ("FlatDecoder", {}),
    "quadratic": ("QuadraticDecoder", {}),
    "quadratic-2": ("QuadraticDecoder", {"max_short_child": 2}),
    "quadratic-3": ("QuadraticDecoder", {"max_short_child": 3}),
    "cubic": ("CubicDecoder", {}),
}


def random_scores(n, labels, seed, scale=2.0, dtype=np.float64, forbidden=0.0):
    """Normal weights; below the diagonal, where nobody may look, NaN."""
    random = np.random.default_rng(seed)
    scores = random.normal(scale=scale, size=(n, n, labels)).astype(dtype)
    scores[random.random(scores.shape) < forbidden] = -np.inf
    scores[np.tril_indices(n, -1)] = np.nan
    return scores


def weight_of(analysis, scores):
    return sum(float(scores[start, end - 1, label]) for start, end, label in analysis)
