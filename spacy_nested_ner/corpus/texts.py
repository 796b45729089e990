"""Texts to run a pipeline on, however they are given: as they are, in files, in corpora, or on standard input."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from spacy.tokens import Doc

from .conversion import read_docs
from .conversion_report import FormatError
from .documents import Settings
from .files import BLANK, read_lines, visible_files
from .formats import FORMATS, bracket
from .reader import bare_doc
from .tokenization import make_doc

STANDARD_INPUT = "-"
PLAIN = ".txt"
# A paragraph with more characters is divided between lines, so that a file without blank lines needs no more memory.
MAX_CHARACTERS = 10_000


def input_docs(
    inputs: Sequence[str], format: str | None = None, *, settings: Settings, standard_input: Iterable[str] = ()
) -> Iterator[Doc]:
    """Docs that a pipeline can process, without any annotation but the tokens and sentences of corpora.

    inputs (Sequence[str]): Each one is the name of a file or folder, "-" for standard input, or else a text.
    format (str | None): Read all of them as corpora in this format, a key of `FORMATS`. None to read what only a
        corpus can be called as a corpus, and everything else as plain text with blank lines between paragraphs.
    settings (Settings): Its pipeline has the tokenizer.
    standard_input (Iterable[str]): The lines of standard input.
    YIELDS (Doc): One for each text, paragraph, or document of a corpus.
    """
    make = partial(make_doc, settings.nlp)
    for given in inputs:
        path = find_path(given)
        if given == STANDARD_INPUT:
            yield from map(make, paragraphs(standard_input))
        elif path is None:
            yield make(given)
        elif format is None and is_plain_text(path):
            for file in _text_files(path):
                yield from map(make, paragraphs(line.text for line in read_lines(file)))
        else:
            yield from (bare_doc(settings.nlp, doc) for doc in read_docs(path, format, settings=settings))


def find_path(given: str) -> Path | None:
    """The file or folder of this name, if there is one. An error if there is none and the name is that of a file."""
    path = Path(given)
    try:
        if given and path.exists():  # Path("") is the current folder
            return path
    except (OSError, ValueError):  # too long, or with characters that no file name may have
        return None
    if not any(map(str.isspace, given)) and given.lower().endswith((PLAIN, *_corpus_suffixes())):
        raise FormatError(given, "no such file or folder")
    return None


def is_plain_text(path: Path) -> bool:
    """Whether neither the name of a file nor a name in a folder shows that it is a corpus."""
    files = visible_files(path) if path.is_dir() else [path]
    return not any(file.name.lower().endswith(_corpus_suffixes()) for file in files)


def is_bracketed(path: Path) -> bool:
    """Whether a text file begins like bracket notation, which has to be asked for."""
    lines = (line.text for line in read_lines(path) if line.text.strip(BLANK) and not line.text.startswith("#"))
    try:
        return bool(bracket.parse(next(lines, "")).mentions)
    except FormatError:
        return False


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """What is between blank lines, with its line breaks."""
    gathered: list[str] = []
    for line in chain((line.rstrip() for line in lines), [""]):
        if gathered and (not line or sum(map(len, gathered)) + len(line) > MAX_CHARACTERS):
            yield "\n".join(gathered).strip()
            gathered = []
        if line:
            gathered.append(line)


def _text_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = [file for file in visible_files(path) if file.name.lower().endswith(PLAIN)]
    if not files:
        raise FormatError(str(path), f"no {PLAIN} file in this folder, and none of a corpus")
    return files


def _corpus_suffixes() -> tuple[str, ...]:
    return tuple({suffix for format in FORMATS.values() for suffix in format.suffixes} - {PLAIN})
