from typing import Any

import numpy as np

class Batch:
    @staticmethod
    def of_arrays(arrays: list[Any], numbered: bool, outs: list[np.ndarray] | None, max_span_length: int) -> Batch: ...
    @staticmethod
    def of_packed(
        values: np.ndarray,
        lengths: list[int],
        offsets: list[int],
        out: np.ndarray | None,
        stored: int,
        max_span_length: int,
    ) -> Batch: ...
