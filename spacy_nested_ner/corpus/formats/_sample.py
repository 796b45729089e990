"""The beginning of a file, from which formats are recognized."""

from pathlib import Path
from typing import NamedTuple

# How many bytes of a file are looked at.
SIZE = 64 * 1024


class Sample(NamedTuple):
    """The beginning of a file.

    name (str): The file's name.
    text (str): The first 64 KiB, decoded leniently; "" if it is binary.
    whole (bool): The text is the whole file.
    """

    name: str
    text: str
    whole: bool


def take_sample(path: Path) -> Sample:
    """Read the beginning of a file."""
    with path.open("rb") as file:
        head = file.read(SIZE + 1)
    text = "" if b"\0" in head else head[:SIZE].decode("utf-8-sig", errors="replace")
    return Sample(path.name, text, len(head) <= SIZE)


def content_lines(sample: Sample, *, limit: int = 200) -> list[str]:
    """The first lines that are neither blank nor cut off by the end of the sample."""
    lines = sample.text.splitlines() if sample.whole else sample.text.splitlines()[:-1]
    return [line for line in lines if line.strip()][:limit]
