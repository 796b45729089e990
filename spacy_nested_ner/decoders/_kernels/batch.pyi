from collections.abc import Iterable
from typing import Any

class Batch:
    outputs: list[Any] | None
    @staticmethod
    def of_arrays(
        arrays: list[Any],
        numbered: bool,
        marginals: bool,
        max_span_length: int,
        outputs: Iterable[Any] | None = None,
    ) -> Batch: ...
    @staticmethod
    def of_packed(values: Any, lengths: Iterable[int], stored: int, marginals: bool, max_span_length: int) -> Batch: ...
