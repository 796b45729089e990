"""The beginning of a file, from which formats tell whether they can read it."""

from typing import NamedTuple


class Sample(NamedTuple):
    """The beginning of a file.

    name (str): The name of the file.
    text (str): The first 64 KiB, decoded leniently; empty if the file is binary.
    whole (bool): Whether the text is the whole file.
    """

    name: str
    text: str
    whole: bool
