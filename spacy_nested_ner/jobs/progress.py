"""How far a job has come."""

import sys
from datetime import timedelta
from time import monotonic
from types import TracebackType
from typing import NamedTuple

from tqdm import tqdm

from .job import Done

# Between two lines, where there is no terminal.
_SECONDS_BETWEEN_LINES = 10.0


class Summary(NamedTuple):
    """What a run has done.

    documents (int): How many documents this run has annotated.
    words (int): How many tokens these have.
    mentions (int): How many mentions were found.
    errors (int): How many documents failed.
    shards (int): How many shards the output has.
    kept_shards (int): How many of them an earlier run had finished. The other numbers are without them.
    seconds (float): How long this run took, including the loading of the pipeline.
    words_per_second (float): Words of this run by its seconds.
    """

    documents: int
    words: int
    mentions: int
    errors: int
    shards: int
    kept_shards: int
    seconds: float
    words_per_second: float


class Progress:
    """Counts what is done, and shows it on standard error: a bar on a terminal, otherwise a line now and then."""

    def __init__(self, *, shards: int, kept_shards: int, size: int, kept_size: int, shown: bool = True):
        self.shards = shards
        self.kept_shards = kept_shards
        self.size = size - kept_size
        self.done: list[int] = [0, 0, 0, 0]
        self.done_shards = 0
        self.done_size = 0
        self.started = self.last_line = monotonic()
        self.terminal = sys.stderr.isatty()
        self.shown = shown
        disabled = not (shown and self.terminal)
        style = {"unit": "B", "unit_scale": True, "leave": False, "mininterval": 0, "miniters": 1}
        self.bar = tqdm(total=size, initial=kept_size, disable=disabled, **style)

    def __enter__(self) -> "Progress":
        self._say(f"{self.kept_shards:,} of {self.shards:,} shards were finished before" if self.kept_shards else "")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.bar.close()

    def add(self, done: Done, size: int) -> None:
        """Count a finished piece of so many bytes, and show it."""
        self.done = [a + b for a, b in zip(self.done, done[1:5])]
        self.done_shards += 1
        self.done_size += size
        self.bar.set_postfix_str(self._counts(), refresh=False)
        self.bar.update(size)
        now = monotonic()
        if not self.terminal and now - self.last_line >= _SECONDS_BETWEEN_LINES:
            self.last_line = now
            self._say(
                f"{self.kept_shards + self.done_shards:,} of {self.shards:,} shards, {self._counts()}, {self._left()}"
            )

    def summary(self) -> Summary:
        """What this run has done so far."""
        seconds = monotonic() - self.started
        shards = self.kept_shards + self.done_shards
        speed = round(self.done[1] / max(seconds, 1e-9), 1)
        documents, words, mentions, errors = self.done
        return Summary(documents, words, mentions, errors, shards, self.kept_shards, round(seconds, 3), speed)

    def _counts(self) -> str:
        documents, words, _, errors = self.done
        speed = words / max(monotonic() - self.started, 1e-9)
        return f"{documents:,} documents, {speed:,.0f} words per second, {errors:,} errors"

    def _left(self) -> str:
        seconds = (monotonic() - self.started) * (self.size - self.done_size) / max(self.done_size, 1)
        return f"{timedelta(seconds=round(seconds))} left"

    def _say(self, line: str) -> None:
        if line and self.shown:
            tqdm.write(line, file=sys.stderr)
