from typing import Any

class FusedSpans:
    def __init__(
        self,
        own: Any,
        shared: Any,
        numbers: Any,
        gates: Any,
        biases: Any,
        rows: Any,
        W: Any,
        b: Any,
        lengths: Any,
        limit: int,
    ) -> None: ...
    def scores(self) -> Any: ...
    def gradients(self, d_scores: Any) -> tuple[Any, Any, Any]: ...
