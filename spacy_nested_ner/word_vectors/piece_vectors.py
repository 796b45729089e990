"""A vector for every word, made from those of its pieces.

    vector(w) = mean(V[p] for every piece p of w)

Pieces are found as WordPiece finds them: the longest one in the table that the rest of the word begins with, again and
again. Those inside a word have `##` before them. A word is first cut at its punctuation.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast
from unicodedata import category, name, normalize

from spacy.strings import get_string_id
from spacy.vectors import Vectors
from spacy.vocab import Vocab
from thinc.backends import get_array_ops

# The registered name. It is saved as the mode of the table, too: whoever loads it without a config that says so is told
# what is missing.
REGISTERED = "spacy-nested-ner.PieceVectors.v1"
# Before a piece that does not begin a word.
INSIDE = "##"
# Characters of a word that are looked at, and of the longest piece.
_LONGEST_WORD, _LONGEST_PIECE = 100, 40
# Words whose pieces are kept for the next text.
_REMEMBERED = 2**16
_SETTINGS = ("ignore_case", "ignore_accents", "cut_ideographs")


class PieceVectors(Vectors):
    """A table of pieces that gives a vector to every word that has at least one.

    strings (StringStore): The strings of the vocab.
    ignore_case (bool): Whether the pieces are lower-case.
    ignore_accents (bool): Whether the pieces are without accents.
    cut_ideographs (bool): Whether every Chinese character is a word of its own.
    **table (Any): Other arguments of `spacy.vectors.Vectors`, such as data and keys. A key that is spelled like a word
        is that word's only piece.
    """

    # In its default mode, spaCy would look up whole words in the table and nothing else.
    mode = REGISTERED

    def __init__(
        self,
        *,
        strings: Any,
        ignore_case: bool = False,
        ignore_accents: bool = False,
        cut_ideographs: bool = False,
        **table: Any,
    ) -> None:
        self.ignore_case = ignore_case
        self.ignore_accents = ignore_accents
        self.cut_ideographs = cut_ideographs
        self._found: dict[int | str, list[int]] = {}
        self._more_strings = [strings]
        super().__init__(strings=strings, **table)

    def __reduce__(self) -> tuple:
        return _unpickled, ([self.strings, *self._more_strings], self.to_bytes(exclude=["strings"]))

    def __contains__(self, key: int | str) -> bool:
        return bool(self._rows_of(key))

    def __getitem__(self, key: int | str) -> Any:
        if key not in self:
            raise KeyError(f"no piece of the word {self._string(key)!r} has a vector")
        return self.get_batch([key])[0]

    def get_batch(self, keys: Iterable[int | str]) -> Any:
        """The vectors of words; zeros for those without any piece."""
        ops = get_array_ops(self.data)
        keys = keys.tolist() if hasattr(keys, "tolist") else keys
        numbers: dict[int | str, int] = {}
        of_keys = [numbers.setdefault(key, len(numbers)) for key in keys]
        rows = [self._rows_of(key) for key in numbers]
        flat = ops.asarray1i([row for of_word in rows for row in of_word])
        if not len(flat):  # Thinc refuses them
            return ops.alloc2f(len(of_keys), self.shape[1])
        words = ops.reduce_mean(self.data[flat], ops.asarray1i([len(of_word) for of_word in rows]))
        return ops.as_contig(words[ops.asarray1i(of_keys)])

    def pieces(self, word: str) -> list[str]:
        """The pieces of a word that have a vector, as they are in the table."""
        if get_string_id(word) in self.key2row:
            return [word]
        return [piece for part in self._parts(word) for piece in self._pieces_of_part(part)]

    def _parts(self, word: str) -> list[str]:
        """The parts of a word between punctuation marks, and each of these, without what is ignored."""
        word = word[:_LONGEST_WORD]
        if self.ignore_case:
            word = word.lower()
        if self.ignore_accents:
            word = "".join(each for each in normalize("NFD", word) if category(each) != "Mn")
        shown = (each for each in word if category(each) != "Cf")  # not soft hyphens, for example
        return "".join(f" {each} " if self._is_alone(each) else each for each in shown).split()

    def _is_alone(self, character: str) -> bool:
        kind = category(character)[0]
        is_punctuation = kind == "P" or (kind == "S" and character.isascii())
        return is_punctuation or (self.cut_ideographs and is_ideograph(character))

    def _pieces_of_part(self, part: str) -> list[str]:
        found = []
        start = 0
        while start < len(part):
            mark = INSIDE if start else ""
            ends = range(min(len(part), start + _LONGEST_PIECE), start, -1)
            pieces = ((end, mark + part[start:end]) for end in ends)
            # A character without a piece is passed over.
            start, piece = next((each for each in pieces if get_string_id(each[1]) in self.key2row), (start + 1, None))
            found += [piece] if piece else []
        return found

    def _rows_of(self, key: int | str) -> list[int]:
        rows = self._found.get(key)
        if rows is None:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            pieces = self.pieces(self._string(key))
            rows = self._found[key] = [self.key2row[get_string_id(piece)] for piece in pieces]
        return rows

    def _string(self, key: int | str) -> str:
        if isinstance(key, str):
            return key
        # A vocab that was pickled does not give its strings to its vectors, but some that are empty.
        stores = (store for store in (self.strings, *self._more_strings) if key in store)
        return cast(str, next(stores, self.strings)[key])

    # What changes the table.

    def add(self, key: int | str, *, vector: Any = None, row: int | None = None) -> int:
        self._found.clear()
        if row is None and self.is_full and get_string_id(key) not in self.key2row:
            rows, width = self.shape
            self.resize((max(100, int(rows * 1.3)), width))
        return cast(int, super().add(key, vector=vector, row=row))

    def _sync_unset(self) -> None:
        self._found.clear()
        super()._sync_unset()

    # What is saved besides the table.

    def _get_cfg(self) -> dict[str, Any]:
        return {"mode": self.mode} | {name: getattr(self, name) for name in _SETTINGS}

    def _set_cfg(self, cfg: dict[str, Any]) -> None:
        if cfg.get("mode") != self.mode:
            raise ValueError(
                f"these vectors are of the kind {cfg.get('mode')!r}, and [nlp.vectors] of the config says "
                f"{self.mode!r}; copy [nlp.vectors] from the config of the pipeline that has the vectors"
            )
        super()._set_cfg({})
        for setting in _SETTINGS:
            setattr(self, setting, bool(cfg.get(setting)))


def is_ideograph(character: str) -> bool:
    return name(character, "").startswith("CJK ")


def _unpickled(strings: list[Any], data: bytes) -> PieceVectors:
    vectors = PieceVectors(strings=strings[0])
    vectors._more_strings = strings
    return vectors.from_bytes(data, exclude=["strings"])


def make_piece_vectors() -> Callable[[Vocab], PieceVectors]:
    """Word vectors that are the mean of the vectors of a word's pieces, for `[nlp.vectors]`. Whether case and accents
    count is saved with the vectors.

    RETURNS (Callable[[Vocab], PieceVectors]): Makes the table of a vocab, which is empty until vectors are loaded.
    """
    return lambda vocab: PieceVectors(strings=vocab.strings)
