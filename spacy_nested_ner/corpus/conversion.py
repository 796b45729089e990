"""From any format to any other: find out the format, read, write all or nothing, split."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from spacy.tokens import Doc

from .._progress import progress_bar
from ..annotation import INCOMPLETE, mentions_of, sentence_bounds
from .conversion_report import ConversionReport, FormatError
from .documents import Record, Settings
from .files import input_files, staging
from .formats import FORMATS, Format, Writer

# The files of a standard split.
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
    """Convert a file, or all files in a folder, to one file (brat: to a folder of files).

    source_format, target_format (str | None): A key of `FORMATS`; None to go by the file name.
    settings (Settings | None): The spans key, the language and the like.
    skip_bad (bool): Skip and count bad input instead of raising a `FormatError`.
    names (Collection[str] | None): The files in the source folder to read; None for all.
    split (bool): Write the standard split of the corpus (GENIA) as three files in the folder `target`.
    progress (bool): Show a progress bar on a terminal.
    RETURNS (ConversionReport): What was read, and what could not be kept.
    """
    source, target = Path(source), Path(target)
    settings = settings or Settings()
    report = ConversionReport(skip_bad=skip_bad)
    source_format = source_format or detect_format(source)
    sizes = _split_sizes(source, source_format) if split else ()
    target_format = target_format or ("spacy" if split else detect_format(target, writing=True))
    write = _writer(target_format)
    targets = _part_paths(target, FORMATS[target_format]) if split else [target]
    files = input_files(source, _format(source_format).suffixes, names)
    _check_targets(files, targets, FORMATS[target_format])
    records = _count(_read(files, FORMATS[source_format], settings, report), settings, report, progress=progress)
    parts = _split(records, sizes, source) if split else iter([records])
    with staging(targets[0].parent) as stage:
        for part, path in zip(parts, targets):  # in this order, so that _split gets to check that nothing is left
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
    """Read the Docs of a file or folder, one at a time.

    format (str | None): A key of `FORMATS`; None to go by the file name.
    settings (Settings | None): The spans key, the language and the like.
    report (ConversionReport | None): Filled in while the Docs are read.
    YIELDS (Doc): The documents.
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
    """Read the Docs of a file or folder like `read_docs`, each with the place it comes from.

    progress (bool): Show a progress bar on a terminal.
    YIELDS (Record): The documents and their places.
    """
    path = Path(path)
    settings = settings or Settings()
    report = report or ConversionReport()
    format = format or detect_format(path)
    files = input_files(path, _format(format).suffixes)
    return _count(_read(files, FORMATS[format], settings, report), settings, report, progress=progress)


def write_docs(
    docs: Iterable[Doc], path: str | Path, format: str | None = None, *, settings: Settings | None = None
) -> ConversionReport:
    """Write Docs to a file (brat: to a folder). After an error, nothing is written.

    format (str | None): A key of `FORMATS`; None to go by the file name.
    settings (Settings | None): The spans key.
    RETURNS (ConversionReport): What was written, and what could not be kept.
    """
    path = Path(path)
    settings = settings or Settings()
    report = ConversionReport()
    format = format or detect_format(path, writing=True)
    write = _writer(format)
    _check_targets([], [path], FORMATS[format])
    records = (Record(doc, f"document {n}") for n, doc in enumerate(docs, 1))
    with staging(path.parent) as stage:
        write(_count(records, settings, report, progress=False), stage / path.name, settings, report)
    return report


# Detecting formats


def detect_format(path: Path, *, writing: bool = False) -> str:
    """The format of a file, by its name, or of a folder, by the names of the files in it.

    writing (bool): The file or folder will be written, so it need not exist.
    RETURNS (str): A key of `FORMATS`.
    """
    if not writing and not path.exists():
        raise FormatError(str(path), "no such file or folder")
    is_folder = path.is_dir() and not writing
    files = [file for file in path.rglob("*") if file.is_file()] if is_folder else [path]
    found = {name for name in (_format_of_name(file, writing=writing) for file in files) if name}
    if is_folder and "brat" in found:
        found.discard("bracket")  # a folder of annotated texts may have others, such as a README.txt
    if len(found) == 1:
        return found.pop()
    reason = f": its files may be {' or '.join(sorted(found))}" if found else " by its name"
    raise ValueError(f"cannot tell the format of {path}{reason}; choose one of {', '.join(FORMATS)}")


def _format_of_name(path: Path, *, writing: bool) -> str | None:
    """The first format with such file names, but a pair of files that both exist comes before a single file."""
    names = [name for name, format in FORMATS.items() if path.name.lower().endswith(format.suffixes)]
    pairs = [name for name in names if FORMATS[name].pair and not writing and _is_whole_pair(path, FORMATS[name])]
    return next(iter(pairs + names), None)


def _is_whole_pair(path: Path, format: Format) -> bool:
    return all(path.with_suffix(suffix).exists() for suffix in format.suffixes)


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ValueError(f"format is {name!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


# Reading


def _read(files: list[Path], format: Format, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    if format.pair:
        files = list(dict.fromkeys(file.with_suffix(format.suffixes[0]) for file in files))
    for file in files:
        yield from format.read(file, settings, report)


def _count(
    records: Iterable[Record], settings: Settings, report: ConversionReport, *, progress: bool
) -> Iterator[Record]:
    """Add every document that passes to the report."""
    for record in progress_bar(records, unit="documents", shown=progress):
        lengths = [end - start for start, end in sentence_bounds(record.doc) if start < end]
        report.count(lengths, mentions_of(record.doc, settings.spans_key))
        yield record


# Writing


def _writer(name: str) -> Writer:
    """What writes a format, and reports what the format cannot express."""
    format = _format(name)
    write = format.write
    if write is None:
        others = ", ".join(other for other in FORMATS if FORMATS[other].write)
        raise ValueError(f"format {name} is read-only; write one of {others}")
    if format.keeps_all:
        return write

    def write_mentions(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
        write(_expressible(records, settings, report), path, settings, report)

    return write_mentions


def _expressible(records: Iterable[Record], settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """The documents, after reporting what only a format that keeps all can express: mentions without a label, and
    that mentions are missing."""
    for record in records:
        if settings.spans_key in record.doc.spans and record.doc.spans[settings.spans_key].attrs.get(INCOMPLETE):
            report.lose("marks of incomplete annotation", record.where)
        with report.tolerating():
            for mention in mentions_of(record.doc, settings.spans_key):
                if not mention.label:
                    text = record.doc[mention.start : mention.end].text
                    raise FormatError(record.where, f"the mention {text!r} has no label; give it one, or write spacy")
            yield record


def _check_targets(files: list[Path], targets: list[Path], format: Format) -> None:
    """Raise an error for output that would destroy something, or be mixed with the input."""
    for target in targets:
        if target.is_dir() and not format.pair:
            example = target / f"corpus{format.suffixes[0]}"
            raise ValueError(f"{target} is a folder; name the file to write, such as {example}")
        if target.is_dir() and any(target.iterdir()):
            raise ValueError(f"the folder {target} is not empty; choose another, or empty it first")
        made = {target, *(target.with_suffix(suffix) for suffix in format.suffixes if format.pair)}
        both = {file.resolve() for file in files} & {path.resolve() for path in made}
        if both:
            raise ValueError(f"{both.pop()} is both input and output; choose another output")


# Splitting


def _split_sizes(source: Path, format: str) -> tuple[int, ...]:
    """How many sentences the parts of the standard split of a format have."""
    if not _format(format).split:
        others = ", ".join(name for name in FORMATS if FORMATS[name].split)
        raise ValueError(f"split is for {others}, which has a standard split; {source} is {format}")
    return FORMATS[format].split


def _part_paths(folder: Path, format: Format) -> list[Path]:
    """The files, or for brat the folders, of a split."""
    suffix = "" if format.pair else format.suffixes[0]
    return [folder / f"{part}{suffix}" for part in PARTS]


def _split(records: Iterator[Record], sizes: tuple[int, ...], source: Path) -> Iterator[Iterator[Record]]:
    """The documents of each part, as many as have the given numbers of sentences together."""

    def take(size: int) -> Iterator[Record]:
        missing = size
        while missing > 0:
            record = next(records, None)
            if record is None:
                reason = f"{missing:,} of {size:,} sentences of a part are missing; expected the whole corpus"
                raise FormatError(str(source), reason)
            missing -= len(sentence_bounds(record.doc))
            if missing < 0:
                reason = f"{-missing:,} sentences too many for a part of {size:,}; expected the original order"
                raise FormatError(record.where, reason)
            yield record

    for size in sizes:
        yield take(size)
    if next(records, None) is not None:
        raise FormatError(str(source), f"more than {sum(sizes):,} sentences; expected the whole corpus and no more")
