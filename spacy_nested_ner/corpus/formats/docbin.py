"""spaCy's own format, `.spacy`: Docs with all their annotation, mentions in `doc.spans[spans_key]`."""

from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
from spacy.tokens import Doc, DocBin

from ...annotation import mentions_of
from ..conversion_report import ConversionReport, FormatError
from ..documents import Record, Settings
from ._untrusted import check_decompressed

# What tokens have as numbers of strings.
_STRINGS: list[int | str] = ["ORTH", "NORM", "LEMMA", "TAG", "MORPH", "DEP", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"]


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file."""
    with report.tolerating():
        with path.open("rb") as file:
            check_decompressed(file, path, settings.max_bytes)
        try:
            docs = DocBin().from_disk(path).get_docs(settings.nlp.vocab)
        except OSError:
            raise
        except Exception as error:  # zlib, msgpack and NumPy raise errors of their own
            raise FormatError(str(path), "not a .spacy file; expected what spaCy's DocBin writes") from error
        for n in count(1):
            where = f"{path}, document {n}"
            doc = _next(docs, where)
            if doc is None:
                return
            if settings.spans_key not in doc.spans:
                found = ", ".join(map(repr, doc.spans)) or "no spans"
                report.lose(f"documents without spans[{settings.spans_key!r}]", f"{where}: it has {found}")
            yield Record(doc, where)


def _next(docs: Iterator[Doc], where: str) -> Doc | None:
    """The next document, looked at from all sides: damage shows only then."""
    try:
        doc = next(docs, None)
        if doc is not None:
            _ = doc.text, doc.ents, [mentions_of(doc, key) for key in doc.spans]
            _ = [doc.vocab.strings[number] for number in np.unique(doc.to_array(_STRINGS)).tolist()]
        return doc
    except Exception as error:  # spaCy, msgpack and NumPy raise errors of all kinds
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:80]
        remedy = "write the file again; the documents after this one cannot be read"
        raise FormatError(where, f"the file is damaged ({reason}); {remedy}") from error


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write all documents to one file, with everything else they are annotated with."""
    DocBin(docs=(record.doc for record in records), store_user_data=True).to_disk(path)
