"""From any format to any other: find out the format, read, write all or nothing, split."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from spacy.tokens import Doc

from .._progress import progress_bar
from .._whole import check_file, check_folder, whole_files
from ..annotation import INCOMPLETE, incorrect_key_of, mentions_of, sentence_bounds
from .conversion_report import ConversionReport, FormatError, counted
from .detection import CHOICE, Detected, detect, detect_format
from .documents import Record, Settings
from .files import input_files
from .formats import FORMATS, Format, Writer
from .moving import move_annotation
from .splitting import PARTS, Split, check_parts, divide_at


def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    settings: Settings | None = None,
    skip_bad: bool = False,
    names: Collection[str] | None = None,
    split: bool | Split = False,
    ents: bool = False,
    to_key: str | None = None,
    allow_empty: bool = False,
    progress: bool = False,
) -> ConversionReport:
    """Convert a file, or all files in a folder, to one file (brat: to a folder of files).

    source (str | Path): The file or folder to read.
    target (str | Path): The file or folder to write.
    source_format, target_format (str | None): A key of `FORMATS`; None to go by the content and the file name.
    settings (Settings | None): The spans key, the language and the like.
    skip_bad (bool): Skip and count bad input instead of raising a `FormatError`.
    names (Collection[str] | None): The files in the source folder to read; None for all.
    split (bool | Split): Write train, dev and test as files in the folder `target`: a random split, or, if True, the
        standard split of the corpus (GENIA).
    ents (bool): Also take the entities in doc.ents as mentions.
    to_key (str | None): Move the mentions from `settings.spans_key` to this key of doc.spans.
    allow_empty (bool): Do not raise a `FormatError` if there are documents but no mentions.
    progress (bool): Show a progress bar on a terminal.
    RETURNS (ConversionReport): What was read, and what could not be kept.
    """
    source, target = Path(source), Path(target)
    settings = settings or Settings()
    report = ConversionReport(skip_bad=skip_bad)
    detected = _detected(source, source_format)
    sizes = _split_sizes(source, detected.format) if split is True else ()
    target_format = target_format or ("spacy" if split else detect_format(target, writing=True))
    write = _writer(target_format)
    part_names = (split.parts if isinstance(split, Split) else PARTS) if split else ()
    targets = _part_paths(target, FORMATS[target_format], part_names) if split else [target]
    files = input_files(source, detected.suffixes, names)
    _check_targets(files, targets, FORMATS[target_format])
    written = replace(settings, spans_key=to_key or settings.spans_key)
    with whole_files(targets[0].parent) as stage:
        with _doubting(detected):
            read = _read(files, FORMATS[detected.format], settings, report)
            moved = move_annotation(read, settings.spans_key, ents=ents, to_key=to_key)
            records = _count(moved, written, report, progress=progress)
            parts: Iterable[Iterable[Record]] = [records]
            if split:
                divided = split.divide(records, written, report, source) if isinstance(split, Split) else None
                parts = _count_parts(divided or divide_at(records, sizes, source), part_names, written, report)
            for part, path in zip(parts, targets):  # in this order, so that it is checked that nothing is left
                write(part, stage / path.name, written, report)
        _check_found(source, detected, report, allow_empty=allow_empty)
    report.warnings += check_parts(report.parts) if split else []
    return report


def read_docs(
    path: str | Path,
    format: str | None = None,
    *,
    settings: Settings | None = None,
    report: ConversionReport | None = None,
) -> Iterator[Doc]:
    """Read the Docs of a file or folder, one at a time.

    path (str | Path): The file or folder.
    format (str | None): A key of `FORMATS`; None to go by the content and the file name.
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

    path (str | Path): The file or folder.
    format (str | None): A key of `FORMATS`; None to go by the content and the file name.
    settings (Settings | None): The spans key, the language and the like.
    report (ConversionReport | None): Filled in while the Docs are read.
    progress (bool): Show a progress bar on a terminal.
    YIELDS (Record): The documents and their places.
    """
    path = Path(path)
    settings = settings or Settings()
    report = report or ConversionReport()
    detected = _detected(path, format)
    files = input_files(path, detected.suffixes)
    return _count(_read(files, FORMATS[detected.format], settings, report), settings, report, progress=progress)


def write_docs(
    docs: Iterable[Doc], path: str | Path, format: str | None = None, *, settings: Settings | None = None
) -> ConversionReport:
    """Write Docs to a file (brat: to a folder). After an error, nothing is written.

    docs (Iterable[Doc]): Docs with mentions in `doc.spans`.
    path (str | Path): The file or folder to write.
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
    with whole_files(path.parent) as stage:
        write(_count(records, settings, report, progress=False), stage / path.name, settings, report)
    return report


# Reading


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ValueError(f"format is {name!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def _detected(path: Path, format: str | None) -> Detected:
    """The format of a file or folder, if it is not given, and how the names of its files end."""
    if format is None:
        return detect(path)
    return Detected(format, _format(format).suffixes, True)


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
        others = {key: len(group) for key, group in record.doc.spans.items() if key != settings.spans_key}
        report.count_others(len(record.doc.ents), others)
        yield record


def _count_parts(
    parts: Iterable[Iterable[Record]], names: tuple[str, ...], settings: Settings, report: ConversionReport
) -> Iterator[Iterator[Record]]:
    """Add every part, and every document of it that passes, to the report."""
    names_left = iter(names)
    for part in parts:
        own = report.parts.setdefault(next(names_left), ConversionReport())
        yield _count(part, settings, own, progress=False)


def _check_found(source: Path, detected: Detected, report: ConversionReport, *, allow_empty: bool) -> None:
    """Raise an error if there was nothing to convert."""
    if not report.documents:
        remedy = f"; {CHOICE}" if not detected.certain else "" if report.losses() else "; is the file empty?"
        reason = f"no document found; read as {detected.format}{_because(detected)}{remedy}"
        raise FormatError(str(source), "\n".join([reason, *report.losses()]))
    if report.mentions or allow_empty:
        return
    found = (
        f"no mention found in {counted(report.documents, 'document')}; read as {detected.format}{_because(detected)}"
    )
    remedies = []
    if report.other_spans:
        keys = ", ".join(f"{key!r} ({counted(n, 'span')})" for key, n in report.other_spans.most_common())
        remedies.append(f"choose one of the keys {keys} with --spans-key")
    if report.entities:
        remedies.append(f"take what is in doc.ents ({counted(report.entities, 'span')}) with --ents")
    remedies += [] if remedies else [CHOICE]
    remedies.append("convert texts without mentions with --allow-empty")
    raise FormatError(str(source), "\n".join([f"{found}; {', or '.join(remedies)}", *report.losses()]))


def _because(detected: Detected) -> str:
    return "" if detected.certain else " because of its name"


@contextmanager
def _doubting(detected: Detected) -> Iterator[None]:
    """If only the name of the input pointed to its format, an error says that there are others."""
    try:
        yield
    except FormatError as error:
        if detected.certain:
            raise
        raise FormatError(error.where, f"{error.reason}; if this is not {detected.format}, {CHOICE}") from None


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
        write(_expressible(records, settings, report, format), path, settings, report)

    return write_mentions


def _expressible(
    records: Iterable[Record], settings: Settings, report: ConversionReport, format: Format
) -> Iterator[Record]:
    """The documents, after reporting what only some formats can express: mentions without a label, and that mentions
    are missing."""
    for record in records:
        if not format.keeps_incomplete and _is_incomplete(record.doc, settings.spans_key):
            report.lose("marks of incomplete annotation", record.where)
        with report.tolerating():
            for mention in mentions_of(record.doc, settings.spans_key):
                if not mention.label:
                    text = record.doc[mention.start : mention.end].text
                    raise FormatError(record.where, f"the mention {text!r} has no label; give it one, or write spacy")
            yield record


def _is_incomplete(doc: Doc, spans_key: str) -> bool:
    marked = spans_key in doc.spans and doc.spans[spans_key].attrs.get(INCOMPLETE)
    return bool(marked) or incorrect_key_of(spans_key) in doc.spans


def _check_targets(files: list[Path], targets: list[Path], format: Format) -> None:
    """Raise an error for output that would destroy something, or be mixed with the input."""
    for target in targets:
        if target.is_dir() and not format.pair:
            example = target / f"corpus{format.suffixes[0]}"
            raise ValueError(f"{target} is a folder; name the file to write, such as {example}")
        if target.is_dir() and any(target.iterdir()):
            raise ValueError(f"the folder {target} is not empty; choose another, or empty it first")
        made = {target, *(target.with_suffix(suffix) for suffix in format.suffixes if format.pair)}
        if format.pair and target.suffix not in format.suffixes:
            check_folder(target)
        else:
            for path in made:
                check_file(path)
        both = {file.resolve() for file in files} & {path.resolve() for path in made}
        if both:
            raise ValueError(f"{both.pop()} is both input and output; choose another output")


# Splitting


def _split_sizes(source: Path, format: str) -> tuple[int, ...]:
    """How many sentences the parts of the standard split of a format have."""
    if not _format(format).split:
        others = ", ".join(name for name in FORMATS if FORMATS[name].split)
        reason = f"split is for {others}, which has a standard split; {source} is {format}"
        raise ValueError(f"{reason}; give the shares of a random split, as in 80/10/10")
    return FORMATS[format].split


def _part_paths(folder: Path, format: Format, names: tuple[str, ...]) -> list[Path]:
    """The files, or for brat the folders, of a split."""
    suffix = "" if format.pair else format.suffixes[0]
    return [folder / f"{part}{suffix}" for part in names]
