"""A vector for every word, made from those of its pieces. Needs spaCy alone.

    vector(w) = mean(V[p] for every piece p of w)

Pieces are found as WordPiece finds them: the longest one in the table that the rest of the word begins with, again and
again. Those inside a word have `##` before them. A word is first cut at its punctuation.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast
from unicodedata import category, normalize

from spacy.strings import get_string_id
from spacy.vectors import Vectors
from spacy.vocab import Vocab
from thinc.backends import get_array_ops

# Before a piece that does not begin a word.
INSIDE = "##"
# Characters of a word that are looked at, and of the longest piece.
_LONGEST_WORD, _LONGEST_PIECE = 100, 40
# Words whose pieces are kept for the next text.
_REMEMBERED = 2**16


class PieceVectors(Vectors):
    """A table of pieces that gives a vector to every word that has at least one.

    strings (StringStore): The strings of the vocab.
    ignore_case (bool): Whether the pieces are lower-case.
    ignore_accents (bool): Whether the pieces are without accents.
    **table (Any): Other arguments of `spacy.vectors.Vectors`, such as data and keys. A key that is spelled like a word
        is that word's only piece.
    """

    # In its default mode, spaCy would look up whole words in the table and nothing else.
    mode = "pieces"

    def __init__(self, *, strings: Any, ignore_case: bool = False, ignore_accents: bool = False, **table: Any) -> None:
        self.ignore_case = ignore_case
        self.ignore_accents = ignore_accents
        self._found: dict[int | str, list[int]] = {}
        self._first_strings = strings
        super().__init__(strings=strings, **table)

    def __reduce__(self) -> tuple:
        return _unpickled, (self.strings, self.ignore_case, self.ignore_accents, self.to_bytes(exclude=["strings"]))

    def __contains__(self, key: int | str) -> bool:
        return bool(self._rows_of(key))

    def __getitem__(self, key: int | str) -> Any:
        if key not in self:
            raise KeyError(f"no piece of the word {self.strings.as_string(key)!r} has a vector")
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
        return [piece for part in _parts(self._normal(word)) for piece in self._pieces_of_part(part)]

    def _normal(self, word: str) -> str:
        word = word[:_LONGEST_WORD]
        if self.ignore_case:
            word = word.lower()
        if self.ignore_accents:
            word = "".join(each for each in normalize("NFD", word) if category(each) != "Mn")
        return word

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
            # spaCy does not give the strings of a vocab that was pickled to its vectors.
            strings = self.strings if key in self.strings else self._first_strings
            pieces = self.pieces(strings.as_string(key))
            rows = self._found[key] = [self.key2row[get_string_id(piece)] for piece in pieces]
        return rows

    # What changes the table.

    def add(self, key: int | str, **place: Any) -> int:
        self._found.clear()
        return cast(int, super().add(key, **place))

    def from_disk(self, path: Any, **options: Any) -> "PieceVectors":
        self._found.clear()
        return cast(PieceVectors, super().from_disk(path, **options))

    def from_bytes(self, data: bytes, **options: Any) -> "PieceVectors":
        self._found.clear()
        return cast(PieceVectors, super().from_bytes(data, **options))


def _parts(word: str) -> list[str]:
    """The parts between punctuation marks, and each of these."""
    return "".join(f" {each} " if _is_punctuation(each) else each for each in word).split()


def _is_punctuation(character: str) -> bool:
    kind = category(character)[0]
    return kind == "P" or (kind == "S" and character.isascii())


def _unpickled(strings: Any, ignore_case: bool, ignore_accents: bool, data: bytes) -> PieceVectors:
    vectors = PieceVectors(strings=strings, ignore_case=ignore_case, ignore_accents=ignore_accents)
    return vectors.from_bytes(data, exclude=["strings"])


def make_piece_vectors(ignore_case: bool = False, ignore_accents: bool = False) -> Callable[[Vocab], PieceVectors]:
    """Vectors of words from those of their pieces, for `[nlp.vectors]`.

    ignore_case (bool): Whether the pieces are lower-case.
    ignore_accents (bool): Whether the pieces are without accents.
    RETURNS (Callable[[Vocab], PieceVectors]): Makes the table of a vocab, which is empty until vectors are loaded.
    """
    return lambda vocab: PieceVectors(strings=vocab.strings, ignore_case=ignore_case, ignore_accents=ignore_accents)
