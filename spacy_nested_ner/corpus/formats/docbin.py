"""spaCy's own format, `.spacy`: Docs with all their annotation, mentions in `doc.spans[spans_key]`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import DocBin

from ..conversion_report import ConversionReport, FormatError
from ..documents import Record, Settings


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file."""
    try:
        docs = DocBin().from_disk(path)
    except OSError:
        raise
    except Exception as error:  # zlib, msgpack and NumPy raise errors of their own
        raise FormatError(str(path), "not a .spacy file; expected what spaCy's DocBin writes") from error
    for n, doc in enumerate(docs.get_docs(settings.nlp.vocab), 1):
        where = f"{path}, document {n}"
        if settings.spans_key not in doc.spans:
            found = ", ".join(map(repr, doc.spans)) or "no spans"
            report.lose(f"documents without spans[{settings.spans_key!r}]", f"{where}: it has {found}")
        yield Record(doc, where)


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write all documents to one file, with everything else they are annotated with."""
    DocBin(docs=(record.doc for record in records), store_user_data=True).to_disk(path)
