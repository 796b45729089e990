"""What annotated documents are written to: one file per piece."""

from typing import Protocol

from spacy.tokens import Doc, DocBin

from ..export import placed_mentions
from .parquet import MentionColumns, pyarrow


class Shard(Protocol):
    """The content of a file that is being made. It keeps nothing of the docs, which may not outlive their batch."""

    def add(self, id: str, doc: Doc) -> None:
        """Append a document. After an error the shard is as it was."""

    def to_bytes(self) -> bytes:
        """The content of the file. The same documents give the same bytes."""


class ParquetShard:
    """Rows with id and mentions, as `spacy_nested_ner.mentions` gives them."""

    def __init__(self, spans_key: str, *, with_text: bool):
        pyarrow()  # better now than after the work
        self.spans_key = spans_key
        self.with_text = with_text
        self.columns = MentionColumns()

    def add(self, id: str, doc: Doc) -> None:
        attrs = doc.spans[self.spans_key].attrs
        self.columns.add(
            id,
            placed_mentions(doc, self.spans_key),
            text=doc.text if self.with_text else None,
            n_tokens=len(doc),
            log_probability=attrs.get("log_probability"),
            entropy=attrs.get("entropy"),
        )

    def to_bytes(self) -> bytes:
        return self.columns.to_bytes(with_text=self.with_text)


class DocBinShard:
    """Docs with all their annotation, and the id in `doc.user_data["id"]`."""

    def __init__(self, spans_key: str, *, with_text: bool):
        self.docs = DocBin(store_user_data=True)

    def add(self, id: str, doc: Doc) -> None:
        doc.user_data["id"] = id
        # On its own first: what cannot be saved must not leave half of itself behind.
        self.docs.merge(DocBin(store_user_data=True, docs=[doc]))

    def to_bytes(self) -> bytes:
        return self.docs.to_bytes()


# By the value of --to, which is also the suffix of the files.
SHARDS: dict[str, type[ParquetShard] | type[DocBinShard]] = {"parquet": ParquetShard, "spacy": DocBinShard}
