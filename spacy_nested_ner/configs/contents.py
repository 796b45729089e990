"""What the files of a corpus hold, before anything is known about how they will be read."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus import FormatError, Settings, read_records
from ..corpus.conversion_report import other_annotation

SUFFIX = ".spacy"


@dataclass
class Contents:
    """The documents of a file or folder.

    words (int): Tokens of all documents.
    longest (int): Tokens of the longest document.
    with_sentences (int): Documents with sentence boundaries.
    longest_unsplit (int): Tokens of the longest document without sentence boundaries.
    without_spacing (int): Documents that do not know which words are followed by a space.
    tokens_too (int): Words of these documents that the tokenizer of the pipeline would also take for tokens.
    spans (Counter[str]): Labeled spans by their key in `doc.spans`.
    entities (int): Spans in `doc.ents`.
    texts (set[int]): Hashes of the texts.
    """

    path: Path
    documents: int = 0
    words: int = 0
    longest: int = 0
    with_sentences: int = 0
    longest_unsplit: int = 0
    without_spacing: int = 0
    tokens_too: int = 0
    spans: Counter[str] = field(default_factory=Counter)
    entities: int = 0
    texts: set[int] = field(default_factory=set)

    @property
    def has_no_spacing(self) -> bool:
        """No document says where spaces are, so there is no text for a tokenizer."""
        return self.without_spacing == self.documents

    def add(self, doc: Doc, nlp: Language) -> None:
        """Count a document.

        nlp (Language): A pipeline with the tokenizer that texts will get.
        """
        is_split = doc.has_annotation("SENT_START")
        self.documents += 1
        self.words += len(doc)
        self.longest = max(self.longest, len(doc))
        self.with_sentences += is_split
        self.longest_unsplit = max(self.longest_unsplit, 0 if is_split else len(doc))
        if doc.has_unknown_spaces:
            tokens = {(token.idx, len(token)) for token in nlp.make_doc(doc.text)}
            self.without_spacing += 1
            self.tokens_too += sum((token.idx, len(token)) in tokens for token in doc)
        self.spans += Counter(_labeled(doc))  # without keys that have none
        self.entities += len(doc.ents)
        self.texts.add(hash(doc.text))

    def choose_key(self, wanted: str | None = None) -> str:
        """The key of the mentions: the given one, "sc" if it has any, or the one that has most. An error if there are
        no mentions."""
        most = max(self.spans, key=self.spans.__getitem__, default="sc")
        key = wanted or ("sc" if "sc" in self.spans else most)
        if key not in self.spans:
            raise ValueError(f"{self.path}: no labeled span in doc.spans[{key!r}]; {self.remedy()}")
        return key

    def remedy(self) -> str:
        """What is annotated, for data without mentions where they were looked for, and what to do."""
        return other_annotation(self.path, self.spans, self.entities)


def read_contents(path: Path, nlp: Language, *, progress: bool = False) -> Contents:
    """Look at all documents of a `.spacy` file, or of a folder of them.

    progress (bool): Show a progress bar on a terminal.
    """
    check_path(path, lang=str(nlp.lang))
    contents = Contents(path)
    for doc, _ in read_records(path, "spacy", settings=Settings(pipeline=nlp), progress=progress):
        if len(doc):  # spaCy leaves out the others, too
            contents.add(doc, nlp)
    return contents


def check_path(path: Path, *, lang: str) -> None:
    """An error that says what to do if spaCy could not train from a file or folder."""
    option = "" if lang == "en" else f" --lang {lang}"
    if not path.exists():
        raise FormatError(str(path), "no such file or folder")
    if path.is_file() and not path.name.endswith(SUFFIX):
        target = path.with_suffix(SUFFIX)
        command = f"spacy nested-ner convert {quote(str(path))} {quote(str(target))}{option}"
        raise FormatError(str(path), f"not a {SUFFIX} file; convert it first: {command}")
    if path.is_dir() and (path / f"train{SUFFIX}").exists():
        parts = [f"--{part} {quote(str(path / part))}{SUFFIX}" for part in ("train", "dev")]
        raise FormatError(str(path), f"the folder has several parts of a corpus; name them: {' '.join(parts)}")
    if path.is_dir() and not any(path.rglob(f"*{SUFFIX}")):
        command = f"spacy nested-ner convert {quote(str(path))} corpus{SUFFIX}{option}"
        raise FormatError(str(path), f"the folder has no {SUFFIX} file; convert it first: {command}")


def _labeled(doc: Doc) -> dict[str, int]:
    """Labeled spans by key, without those that are known not to be mentions."""
    keys = [key for key in doc.spans if key.removesuffix("_incorrect") not in set(doc.spans) - {key}]
    return {key: sum(bool(span.label) for span in doc.spans[key]) for key in keys}
