"""From any format to any other."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spacy.tokens import Doc
from tqdm import tqdm

from ..annotation import INCOMPLETE, mentions_of, sentence_bounds
from .documents import Record, Settings
from .files import input_files, staging
from .formats import bio, bracket, brat, docbin, genia, index, jsonl
from .report import ConversionReport, FormatError

Reader = Callable[[Path, Settings, ConversionReport], Iterator[Record]]
Writer = Callable[[Iterable[Record], Path, Settings, ConversionReport], None]


@dataclass(frozen=True)
class Format:
    """How a format is read and written, and how its files are called.

    pair (bool): Two files make a document; the first suffix stands for both.
    """

    read: Reader
    write: Writer | None
    suffixes: tuple[str, ...]
    pair: bool = False


FORMATS = {
    "spacy": Format(docbin.read, docbin.write, (".spacy",)),
    "bracket": Format(bracket.read, bracket.write, (".txt",)),
    "bio": Format(bio.read, bio.write, (".tsv", ".bio", ".conll")),
    "brat": Format(brat.read, brat.write, (".ann", ".txt"), pair=True),
    "jsonl": Format(jsonl.read, jsonl.write_tokens, (".jsonl",)),
    "jsonl-tokens": Format(jsonl.read, jsonl.write_tokens, (".jsonl",)),
    "jsonl-text": Format(jsonl.read, jsonl.write_text, (".jsonl",)),
    "genia": Format(genia.read, None, (".xml", ".xml.gz", ".tgz")),
    "index": Format(index.read, index.write, (".index",)),
}
PARTS = ("train", "dev", "test")


def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    settings: Settings | None = None,
    skip_bad: bool = False,
    names: Collection[str] | None = None,
    split: bool = False,
    progress: bool = False,
) -> ConversionReport:
    """Convert a file, or all files of a folder, into one file (brat: a folder of files).

    source_format, target_format (str | None): A key of `FORMATS`; None to tell by the file name.
    settings (Settings | None): Spans key, language and the like.
    skip_bad (bool): Skip and count what is bad, instead of raising `FormatError`.
    names (Collection[str] | None): The files of the source folder to read; None for all.
    split (bool): Write the standard split of GENIA, as three files in the folder `target`.
    progress (bool): Show a bar, if on a terminal.
    RETURNS (ConversionReport): What was read, and what could not be kept.
    """
    source, target = Path(source), Path(target)
    settings = settings or Settings()
    report = ConversionReport(skip_bad=skip_bad)
    source_format = source_format or detect_format(source)
    if split and source_format != "genia":
        raise ValueError(f"split is for genia, which has a standard split; {source} is {source_format}")
    target_format = target_format or ("spacy" if split else detect_format(target, writing=True))
    write = _writer(target_format)
    targets = _parts(target, target_format) if split else [target]
    files = input_files(source, _format(source_format).suffixes, names)
    _check_targets(files, targets, target_format)
    records = _count(_read(files, source_format, settings, report), settings, report, progress)
    parts = _split(records, genia.SPLIT, source) if split else iter([records])
    with staging(targets[0].parent) as stage:
        for part, path in zip(parts, targets):  # in this order: the parts check that nothing is left
            write(part, stage / path.name, settings, report)
        if not report.documents:
            reasons = "\n".join(["", *report.losses()]) or f"; is its format {source_format}?"
            raise FormatError(str(source), f"no document found{reasons}")
    return report


def read_docs(
    path: str | Path,
    format: str | None = None,
    *,
    settings: Settings | None = None,
    report: ConversionReport | None = None,
) -> Iterator[Doc]:
    """The Docs of a file or folder, one after the other.

    report (ConversionReport | None): Filled while the Docs are read.
    """
    return (record.doc for record in read_records(path, format, settings=settings, report=report))


def read_records(
    path: str | Path,
    format: str | None = None,
    *,
    settings: Settings | None = None,
    report: ConversionReport | None = None,
    progress: bool = False,
) -> Iterator[Record]:
    """The same, each Doc with the place it comes from.

    progress (bool): Show a bar, if on a terminal.
    """
    path = Path(path)
    settings = settings or Settings()
    report = report or ConversionReport()
    format = format or detect_format(path)
    records = _read(input_files(path, _format(format).suffixes), format, settings, report)
    return _count(records, settings, report, progress)


def write_docs(
    docs: Iterable[Doc], path: str | Path, format: str | None = None, *, settings: Settings | None = None
) -> ConversionReport:
    """Write Docs to a file (brat: a folder). Nothing is written if there is an error."""
    path = Path(path)
    settings = settings or Settings()
    report = ConversionReport()
    format = format or detect_format(path, writing=True)
    write = _writer(format)
    _check_targets([], [path], format)
    records = (Record(doc, f"document {n}") for n, doc in enumerate(docs, 1))
    with staging(path.parent) as stage:
        write(_count(records, settings, report, False), stage / path.name, settings, report)
    return report


def detect_format(path: Path, *, writing: bool = False) -> str:
    """The format of a file by its name, or of a folder by the names of the files in it."""
    if not writing and not path.exists():
        raise FormatError(str(path), "no such file or folder")
    files = [path] if writing or not path.is_dir() else [file for file in path.rglob("*") if file.is_file()]
    found = {name for file in files for name in [_format_of_name(file, writing)] if name}
    if path.is_dir() and "brat" in found:
        found.discard("bracket")  # a text without annotations among others
    if len(found) == 1:
        return found.pop()
    seen = f"its files may be {' or '.join(sorted(found))}" if found else "its name does not tell"
    raise ValueError(f"format of {path}: {seen}; name one of {', '.join(FORMATS)}")


def _format_of_name(path: Path, writing: bool) -> str | None:
    if path.suffix == ".ann" or (not writing and path.suffix == ".txt" and path.with_suffix(".ann").exists()):
        return "brat"
    return next((name for name, format in FORMATS.items() if path.name.lower().endswith(format.suffixes)), None)


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ValueError(f"format is {name!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def _writer(name: str) -> Writer:
    write = _format(name).write
    if write is None:
        others = ", ".join(other for other, format in FORMATS.items() if format.write)
        raise ValueError(f"format {name} can be read only; write one of {others}")
    if name == "spacy":
        return write

    def write_mentions(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
        write(_writable(records, settings, report), path, settings, report)

    return write_mentions


def _writable(records: Iterable[Record], settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Note what other formats than `.spacy` cannot say: that mentions are missing, or have no label."""
    for record in records:
        if settings.spans_key in record.doc.spans and record.doc.spans[settings.spans_key].attrs.get(INCOMPLETE):
            report.lose("that mentions are missing, in incomplete documents", record.where)
        with report.tolerating():
            for mention in mentions_of(record.doc, settings.spans_key):
                if not mention.label:
                    text = record.doc[mention.start : mention.end].text
                    raise FormatError(record.where, f"{text!r} has no label; give it one, or write spacy")
            yield record


def _parts(folder: Path, format: str) -> list[Path]:
    """The files, or for brat the folders, of a split."""
    suffix = "" if FORMATS[format].pair else FORMATS[format].suffixes[0]
    return [folder / f"{part}{suffix}" for part in PARTS]


def _check_targets(files: list[Path], targets: list[Path], format: str) -> None:
    """An error for what would destroy something, or mix output with input."""
    pair, suffixes = FORMATS[format].pair, FORMATS[format].suffixes
    for target in targets:
        if target.is_dir() and not pair:
            example = target / f"corpus{suffixes[0]}"
            raise ValueError(f"{target} is a folder; name the file to write, such as {example}")
        if target.is_dir() and any(target.iterdir()):
            raise ValueError(f"the folder {target} is not empty; choose another, or empty it first")
        made = {target, *(target.with_suffix(suffix) for suffix in suffixes if pair)}
        both = {file.resolve() for file in files} & {path.resolve() for path in made}
        if both:
            raise ValueError(f"{both.pop()} is both input and output; choose another output")


def _read(files: list[Path], format: str, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    if FORMATS[format].pair:
        files = list(dict.fromkeys(file.with_suffix(FORMATS[format].suffixes[0]) for file in files))
    for file in files:
        yield from FORMATS[format].read(file, settings, report)


def _count(records: Iterable[Record], settings: Settings, report: ConversionReport, progress: bool) -> Iterator[Record]:
    """Note every document that passes. `disable=None` shows the bar on terminals only."""
    for record in tqdm(records, unit=" documents", leave=False, disable=None if progress else True):
        lengths = [end - start for start, end in sentence_bounds(record.doc) if start < end]
        report.count(lengths, mentions_of(record.doc, settings.spans_key))
        yield record


def _split(records: Iterator[Record], sizes: tuple[int, ...], source: Path) -> Iterator[Iterator[Record]]:
    """As many documents for each part as have so many sentences together."""

    def take(size: int) -> Iterator[Record]:
        missing = size
        while missing > 0:
            record = next(records, None)
            if record is None:
                reason = f"a part of {size:,} sentences lacks {missing:,}; expected the whole corpus"
                raise FormatError(str(source), reason)
            missing -= len(sentence_bounds(record.doc))
            if missing < 0:
                raise FormatError(record.where, f"goes {-missing:,} sentences past a part of {size:,}")
            yield record

    for size in sizes:
        yield take(size)
    if next(records, None) is not None:
        raise FormatError(str(source), f"more than {sum(sizes):,} sentences; expected the whole corpus and no more")
