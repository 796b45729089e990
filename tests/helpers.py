"""What several tests need: search spaces, the sentences of the paper, random scores."""

import signal

import numpy as np
from threadpoolctl import threadpool_info

SPACES = {
    "flat": ("FlatDecoder", {}),
    "quadratic": ("QuadraticDecoder", {}),
    "quadratic-2": ("QuadraticDecoder", {"max_short_child": 2}),
    "quadratic-3": ("QuadraticDecoder", {"max_short_child": 3}),
    "cubic": ("CubicDecoder", {}),
}

# The four sentences of the paper's first figure, with end-exclusive spans.
PAPER = {
    1: (8, [(0, 1, "PER"), (5, 8, "PER")]),
    2: (8, [(0, 1, "PER"), (2, 8, "PER"), (2, 3, "PER"), (5, 6, "PER")]),
    3: (8, [(0, 1, "PER"), (4, 8, "ORG"), (5, 7, "GPE")]),
    4: (6, [(0, 1, "PER"), (2, 6, "PER"), (4, 6, "GPE"), (5, 6, "GPE")]),
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


def dense_target(scores, gold, smoothing):
    """The marginals of a perfect model, in packed order."""
    from spacy_nested_ner.pipeline.loss import smoothed_target  # the tests of decoders do without spaCy

    target = np.zeros_like(scores.values)
    smoothed_target(scores, gold, smoothing).subtract_from(target)
    return -target


def listen_to_interrupts():
    """Before a process is started that Ctrl-C shall end: a shell that runs tests in the background lets them, and the
    processes they start, ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def blas_threads():
    """How many threads every BLAS of this process uses."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
