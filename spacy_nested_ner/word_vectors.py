"""Word vectors from a transformer, for pipelines that run without one.

The transformer reads every word by itself, once. The mean of its last layer over the pieces of the word is reduced to
the directions in which words differ most. Needs PyTorch and transformers to make the vectors, and neither to use them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vectors import Vectors

from ._progress import progress_bar

# Numbers per word.
WIDTH = 128
# How many words of the data get a vector, the most frequent ones.
MAX_WORDS = 200_000
# Words that the transformer reads at once, and pieces of a word that it reads at most.
_BATCH, _LONGEST = 256, 32
# Vectors that are copied in double precision at once.
_TOGETHER = 10_000


class WordVectors(NamedTuple):
    """What was made.

    nlp (Language): A pipeline that has the vectors and nothing else.
    words (int): Words of the data that have a vector.
    left_out (int): Those that have none: there were more than `max_words`.
    added (int): Words that the transformer knows and the data do not have.
    kept (float): The share of the variance of the transformer's vectors that is left.
    """

    nlp: Language
    words: int
    left_out: int
    added: int
    kept: float


def make_word_vectors(
    docs: Iterable[Doc],
    transformer: str,
    *,
    lang: str = "en",
    width: int = WIDTH,
    max_words: int = MAX_WORDS,
    gpu_id: int = -1,
    progress: bool = False,
) -> WordVectors:
    """Make vectors for the words of some texts, and for those that the transformer has as a single piece.

    docs (Iterable[Doc]): Training data, and any other texts like those that will be predicted. Mentions are not looked
        at. Words are the tokens of a doc, and those that the tokenizer of the language finds in its text.
    transformer (str): The name of a transformer, or the folder of one.
    lang (str): The language of the pipeline.
    width (int): Numbers per word: at most as many as the transformer has.
    max_words (int): At most so many words of the docs get a vector, the most frequent ones.
    gpu_id (int): The GPU to use, or -1 for the CPU.
    progress (bool): Show a progress bar on a terminal.
    RETURNS (WordVectors): A pipeline with the vectors, for `[initialize] vectors`, and what is in it.
    """
    if max_words < 0:
        raise ValueError(f"max_words is {max_words:,}; expected 0 or more")
    nlp = spacy.blank(lang)
    reader = _Reader(transformer, gpu_id)
    if not 1 <= width <= reader.width:
        raise ValueError(f"width is {width}; expected a number from 1 to {reader.width}, which {transformer!r} has")
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    for doc in docs:
        for word in _words(doc, nlp):
            spelled[reader.normal(word)][word] += 1
    found = sorted(spelled, key=lambda word: -spelled[word].total())
    # In this order: frequent words of the data, then the transformer's own.
    words = list(dict.fromkeys([*found[:max_words], *reader.own_words()]))
    vectors, kept = _reduced(reader.read(words, progress=progress), width)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=vectors, name=f"{lang}_word_vectors")
    for row, word in enumerate(words):
        for spelling in dict.fromkeys([*spelled.get(word, ()), *reader.spellings(word)]):
            nlp.vocab.strings.add(spelling)
            nlp.vocab.vectors.add(spelling, row=row)
    in_data = len(spelled.keys() & set(words))
    return WordVectors(nlp, in_data, len(spelled) - in_data, len(words) - in_data, kept)


def _words(doc: Doc, nlp: Language) -> Iterator[str]:
    """The tokens of a doc, and those that training will see instead if the text is tokenized anew."""
    yield from (token.text for token in doc if not token.is_space)
    if not doc.has_unknown_spaces:
        tokens = {(token.idx, token.text) for token in doc}
        yield from (token.text for token in nlp.make_doc(doc.text) if (token.idx, token.text) not in tokens)


def _reduced(vectors: NDArray[np.float32], width: int) -> tuple[NDArray[np.float32], float]:
    """The principal components, scaled so that the mean square is 1, and the share of the variance they keep."""
    centered = vectors - vectors.mean(axis=0)
    parts = np.array_split(centered, len(centered) // _TOGETHER + 1)
    variances, directions = np.linalg.eigh(sum(part.T.astype("float64") @ part for part in parts))
    kept = variances[-width:].sum() / max(variances.sum(), np.finfo("float64").tiny)
    reduced = np.concatenate([part @ directions[:, : -width - 1 : -1] for part in parts]).astype("float32")
    scale = np.sqrt(np.mean(reduced**2, dtype="float64"))
    return reduced / np.float32(scale or 1), float(kept)


class _Reader:
    """A transformer that reads words.

    width (int): Of its vectors.
    """

    def __init__(self, transformer: str, gpu_id: int):
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise ValueError(
                f"a transformer is needed to make vectors, though not to use them ({error}): "
                f"pip install 'spacy-nested-ner[transformers]'"
            ) from None
        if gpu_id >= torch.cuda.device_count():
            raise ValueError(
                f"gpu_id is {gpu_id}, and PyTorch finds {torch.cuda.device_count()} GPUs; expected the number of one, "
                f"from 0 on, or -1 for the CPU"
            )
        self._torch = torch
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(transformer)
            model = AutoModel.from_pretrained(transformer)
        except (OSError, ValueError, KeyError) as error:
            (reason, *_) = str(error).strip().splitlines() or [type(error).__name__]
            raise ValueError(
                f"the transformer {transformer!r} cannot be loaded; expected its name on the Hugging Face hub, or a "
                f"folder with its config, weights and tokenizer: {reason}"
            ) from None
        if self._tokenizer.pad_token is None:  # of models that write texts; what is padded does not count
            self._tokenizer.pad_token = self._tokenizer.eos_token or self._tokenizer.unk_token
        self._model = (model.get_encoder() if model.config.is_encoder_decoder else model).eval()
        self._device = torch.device("cpu" if gpu_id < 0 else f"cuda:{gpu_id}")
        self._model.to(self._device)
        self.width = int(self._model.config.hidden_size)
        self._ignores_case = self._pieces(["Word"]) == self._pieces(["word"])

    def normal(self, word: str) -> str:
        """What is the same for all spellings of a word that the transformer does not tell apart."""
        return word.lower() if self._ignores_case else word

    def spellings(self, word: str) -> list[str]:
        """The usual ones of what `normal` gives. spaCy looks for words as they are spelled."""
        return [word, word.title(), word.upper()] if self._ignores_case else [word]

    def own_words(self) -> list[str]:
        """The words that are single pieces, in the order of the transformer's vocabulary."""
        special = set(self._tokenizer.all_special_tokens)
        vocabulary = sorted(self._tokenizer.get_vocab().items(), key=lambda item: item[1])
        pieces = [(piece, number) for piece, number in vocabulary if piece not in special]
        words = [self._tokenizer.convert_tokens_to_string([piece]).strip() for piece, _ in pieces]
        found = (
            self.normal(word)
            for word, (_, number), read in zip(words, pieces, self._pieces(words))
            if read == [number] and len(word.split()) == 1
        )
        return list(dict.fromkeys(found))

    def read(self, words: Sequence[str], *, progress: bool) -> NDArray[np.float32]:
        """The mean vector of the pieces of every word, each read by itself."""
        pieces = self._pieces(words)
        by_length = sorted(range(len(words)), key=lambda number: len(pieces[number]))
        vectors = np.zeros((len(words), self.width), dtype="float32")
        with progress_bar(total=len(words), unit="words", shown=progress) as bar, self._torch.inference_mode():
            for start in range(0, len(words), _BATCH):
                some = by_length[start : start + _BATCH]
                vectors[some] = self._read([words[number] for number in some])
                bar.update(len(some))
        return vectors

    def _read(self, words: list[str]) -> NDArray[np.float32]:
        options: dict[str, Any] = {"truncation": True, "max_length": _LONGEST, "padding": True}
        batch = self._tokenizer(_spaced(words), return_tensors="pt", return_special_tokens_mask=True, **options)
        given = {name: batch[name].to(self._device) for name in ("input_ids", "attention_mask")}
        hidden = self._model(**given).last_hidden_state.float()
        counted = given["attention_mask"].bool() & (batch["special_tokens_mask"].to(self._device) == 0)
        sums = (hidden * counted.unsqueeze(-1)).sum(1)
        means = sums / counted.sum(1, keepdim=True).clamp(min=1)
        return np.asarray(means.cpu().numpy(), dtype="float32")

    def _pieces(self, words: Sequence[str]) -> list[list[int]]:
        pieces: list[list[int]] = self._tokenizer(_spaced(words), add_special_tokens=False)["input_ids"]
        return pieces


def _spaced(words: Iterable[str]) -> list[str]:
    """Many tokenizers take a word for the rest of another one if there is no space before it."""
    return [f" {word}" for word in words]
