"""Scores that `spacy evaluate` has saved."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def read_scores(path: Path, names: Iterable[str], *, spans_key: str = "sc") -> dict[str, float | None]:
    """Scores of mentions from a file.

    path (Path): What `spacy evaluate --output` has written.
    names (Iterable[str]): The scores to read, such as "f" or "nested_f".
    RETURNS (dict[str, float | None]): By name; None for scores that the file does not have.
    """
    expected = "expected what `spacy evaluate -o` writes"
    try:
        scores: Any = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a file of scores: {error}; {expected}") from None
    if not isinstance(scores, dict):
        raise ValueError(f"{path} is not a file of scores; {expected}")
    prefix = f"spans_{spans_key}"
    if f"{prefix}_f" not in scores:
        raise ValueError(f"{path} has no {prefix}_f; was it evaluated on mentions under another key? See --spans-key")
    return {name: scores.get(f"{prefix}_{name}") for name in names}
