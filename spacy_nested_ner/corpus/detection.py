"""Which format a file has: by its name if only one format uses such names, otherwise by its content."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .conversion_report import FormatError
from .files import visible_files
from .formats import FORMATS, Format
from .formats._sample import take_sample

# How many files of a folder that end in the same suffix are looked into.
LOOKED_INTO = 20
# Suffixes that say little, because files of any layout have them.
GENERAL_SUFFIXES = (".txt", ".json", ".jsonl", ".tsv", ".csv", ".conll", ".xml")

# The remedy in errors.
CHOICE = f"choose one of {', '.join(FORMATS)} with --from"


class Detected(NamedTuple):
    """What was found out about a file or folder.

    format (str): A key of `FORMATS`.
    suffixes (tuple[str, ...]): How the names of its files end.
    certain (bool): Otherwise only the name points to this format; the content looks like none.
    """

    format: str
    suffixes: tuple[str, ...]
    certain: bool


def detect_format(path: Path, *, writing: bool = False) -> str:
    """The format of a file or folder.

    writing (bool): The file or folder will be written, so it need not exist, and only its name counts.
    RETURNS (str): A key of `FORMATS`.
    """
    if not writing:
        return detect(path).format
    named = _formats_named(path.name)
    # A format that can be written comes before one that cannot.
    for name in sorted(named, key=lambda name: FORMATS[name].write is None):
        return name
    choice = ", ".join(name for name in FORMATS if FORMATS[name].write)
    raise ValueError(f"cannot tell the format of {path} by its name; choose one of {choice} with --to")


def detect(path: Path) -> Detected:
    """What the content and the name of a file, or of the files in a folder, show about their format."""
    if not path.exists():
        raise FormatError(str(path), "no such file or folder")
    if path.is_file():
        found = _detect_file(path)
        if found is None:
            raise ValueError(f"cannot tell the format of {path} by its name or content; {CHOICE}")
        return found
    return _detect_folder(path)


def _detect_file(path: Path) -> Detected | None:
    """The format of a file; None if nothing points to any."""
    named = _formats_named(path.name)
    suffixes = (_suffix(path),)
    for name in named:
        if FORMATS[name].pair and _is_whole_pair(path, FORMATS[name]):
            return Detected(name, FORMATS[name].suffixes, True)
    named = [name for name in named if not FORMATS[name].pair or path.suffix.lower() == FORMATS[name].suffixes[0]]
    if len({FORMATS[name].read for name in named}) == 1 and not path.name.lower().endswith(GENERAL_SUFFIXES):
        return Detected(named[0], suffixes, True)
    sample = take_sample(path)
    for name in [*named, *(name for name in FORMATS if name not in named)]:
        recognizes = FORMATS[name].recognizes
        if recognizes is not None and recognizes(sample):
            return Detected(name, suffixes, True)
    # What reads such files says best what is wrong with this one.
    return next((Detected(name, suffixes, False) for name in named), None)


def _detect_folder(path: Path) -> Detected:
    """The one format that the files in a folder have."""
    found: dict[str, list[Detected]] = {}
    for detected in _detect_some(path):
        found.setdefault(detected.format, []).append(detected)
    if "brat" in found:  # a folder of annotated texts may have others, such as a README.txt
        return found["brat"][0]
    certain = {name: some for name, some in found.items() if any(detected.certain for detected in some)}
    found = certain or found
    if len(found) == 1:
        ((name, some),) = found.items()
        suffixes = tuple(dict.fromkeys(suffix for detected in some for suffix in detected.suffixes))
        return Detected(name, suffixes, bool(certain))
    reason = f": its files may be {' or '.join(sorted(found))}" if found else " by the names or contents of its files"
    raise ValueError(f"cannot tell the format of {path}{reason}; {CHOICE}")


def _detect_some(folder: Path) -> Iterator[Detected]:
    """The formats of some files of each suffix, as far as they have any."""
    by_suffix: dict[str, list[Path]] = {}
    for file in visible_files(folder):
        if _suffix(file):
            by_suffix.setdefault(_suffix(file), []).append(file)
    for files in by_suffix.values():
        for file in files[:LOOKED_INTO]:
            detected = _detect_file(file)
            if detected is not None:
                yield detected


def _formats_named(name: str) -> list[str]:
    """The formats with such file names."""
    return [key for key, format in FORMATS.items() if name.lower().endswith(format.suffixes)]


def _suffix(path: Path) -> str:
    """The end of a file name by which formats know it, or else what follows its last period."""
    known = {suffix for format in FORMATS.values() for suffix in format.suffixes}
    matching = [suffix for suffix in known if path.name.lower().endswith(suffix)]
    return max(matching, key=len, default=path.suffix.lower())


def _is_whole_pair(path: Path, format: Format) -> bool:
    return all(path.with_suffix(suffix).exists() for suffix in format.suffixes)
