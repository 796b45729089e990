from typing import Any

import numpy as np

from .batch import Batch

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

class BadWeightError(Exception):
    number: int

def decode(batch: Batch, short_child: int, multi_label: bool) -> tuple[Ints, Ints, Ints, Ints]: ...
def log_partition(batch: Batch, short_child: int, multi_label: bool) -> list[float]: ...
def sample(
    batch: Batch, short_child: int, multi_label: bool, n_samples: int, seed: int
) -> tuple[Ints, Ints, Ints, Ints]: ...
def analyze(
    batch: Batch, short_child: int, multi_label: bool, threshold: float | None, temperature: float
) -> tuple[Ints, Ints, Ints, Ints, Floats, Floats, Floats, Floats]: ...
def entropy(batch: Batch, short_child: int, multi_label: bool) -> list[float]: ...
def covariances(batch: Batch, short_child: int, multi_label: bool, values: Batch) -> None: ...
def k_best(
    batch: Batch, short_child: int, multi_label: bool, k: int, limit: float
) -> tuple[Ints, Ints, Ints, Ints, Floats, list[int]]: ...
