"""Word vectors from a transformer, for pipelines that run without one.

The transformer reads every piece of its vocabulary by itself, once. What its last layer says is reduced to the
directions in which pieces differ most. Needs PyTorch and transformers to make the vectors, and neither to use them.
"""

import re
from typing import NamedTuple

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.language import Language

from .._progress import progress_bar
from .piece_vectors import INSIDE, REGISTERED, PieceVectors, is_ideograph

# Numbers per word.
WIDTH = 128
# Pieces that the transformer reads at once.
_BATCH = 256
# How some tokenizers name single bytes.
_BYTE = re.compile("<0x[0-9A-F]{2}>")
# Vectors that are copied in double precision at once.
_TOGETHER = 10_000


class WordVectors(NamedTuple):
    """What was made.

    nlp (Language): A pipeline that has the vectors and nothing else.
    pieces (int): Pieces that have a vector.
    kept (float): The share of the variance of the transformer's vectors that is left.
    """

    nlp: Language
    pieces: int
    kept: float


def make_word_vectors(
    transformer: str, *, lang: str = "en", width: int = WIDTH, gpu_id: int = -1, progress: bool = False
) -> WordVectors:
    """Make vectors for all words that can be put together from the pieces of a transformer.

    transformer (str): The name of a transformer, or the folder of one.
    lang (str): The language of the pipeline.
    width (int): Numbers per word: at most as many as the transformer has.
    gpu_id (int): The GPU to use, or -1 for the CPU.
    progress (bool): Show a progress bar on a terminal.
    RETURNS (WordVectors): A pipeline with the vectors, for `init --vectors`, and what is in it.
    """
    nlp = spacy.blank(lang, config={"nlp": {"vectors": {"@vectors": REGISTERED}}})
    strings = nlp.vocab.strings
    reader = _Reader(transformer, gpu_id)
    if not 1 <= width <= reader.width:
        raise ValueError(f"width is {width}; expected a number from 1 to {reader.width}, which {transformer!r} has")
    pieces = reader.pieces()
    vectors, kept = _reduced(reader.read(list(pieces.values()), progress=progress), width)
    nlp.vocab.vectors = PieceVectors(
        strings=strings,
        data=vectors,
        keys=[strings.add(piece) for piece in pieces],
        name=f"{lang}_pieces",
        ignore_case=reader.ignores("Word", "word"),
        ignore_accents=reader.ignores("née", "nee"),
        cut_ideographs=reader.cuts_ideographs,
    )
    return WordVectors(nlp, len(pieces), kept)


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
    """A transformer that reads the pieces of its vocabulary.

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
        self._name = transformer
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(transformer)
            model = AutoModel.from_pretrained(transformer)
        except Exception as error:  # of many kinds, some of them those of other packages
            (reason, *_) = str(error).strip().splitlines() or [type(error).__name__]
            raise ValueError(
                f"the transformer {transformer!r} cannot be loaded; expected its name on the Hugging Face hub, or a "
                f"folder with its config, weights and tokenizer: {reason}"
            ) from None
        if not hasattr(model.config, "hidden_size"):
            raise ValueError(
                f"the transformer {transformer!r} is a {type(model).__name__}; expected one that reads texts and "
                f"nothing else, such as BERT"
            )
        self._model = (model.get_encoder() if model.config.is_encoder_decoder else model).eval()
        self._device = torch.device("cpu" if gpu_id < 0 else f"cuda:{gpu_id}")
        self._model.to(self._device)
        self.width = int(model.config.hidden_size)
        tokens = list(self._tokenizer.get_vocab())
        # Others have a few that consist of such characters.
        self._is_word_piece = sum(token.startswith(INSIDE) for token in tokens) > sum(map(_begins_word, tokens))
        self.cuts_ideographs = self._ids("日本") == [*self._ids("日"), *self._ids("本")]

    def _ids(self, word: str) -> list[int]:
        found: list[int] = self._tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
        return found

    def ignores(self, spelling: str, other: str) -> bool:
        """Whether the transformer does not tell two spellings apart."""
        return self._ids(spelling) == self._ids(other)

    def pieces(self) -> dict[str, int]:
        """The numbers of pieces, by what they have in the table. Left out are special tokens, parts of a character and
        what the tokenizer has and never uses."""
        special = set(self._tokenizer.all_special_ids)
        known = self._model.get_input_embeddings().weight.shape[0]
        found: dict[str, int] = {}
        for token, number in sorted(self._tokenizer.get_vocab().items(), key=lambda item: item[1]):
            if number < known and number not in special and (key := self._key(token)):
                found.setdefault(key, number)
        starts = [key for key in found if not key.startswith(INSIDE)]
        # Many tokenizers take a word for the rest of another one if there is no space before it.
        read = self._tokenizer([f" {key}" for key in starts], add_special_tokens=False)["input_ids"] if starts else []
        used = {key for key, numbers in zip(starts, read) if numbers == [found[key]]}
        if not used:
            raise ValueError(
                f"the tokenizer of the transformer {self._name!r} does not mark the pieces that begin a word; expected "
                f"one of the kind WordPiece, SentencePiece or byte-level BPE, such as those of BERT, XLM-R and RoBERTa"
            )
        return {key: number for key, number in found.items() if key in used or key.startswith(INSIDE)}

    def _key(self, token: str) -> str:
        """What a piece has in the table; "" for none."""
        if self._is_word_piece:
            inside = token.removeprefix(INSIDE)
            is_unused = self.cuts_ideographs and inside != token and len(inside) == 1 and is_ideograph(inside)
            return token if inside and not is_unused else ""
        if _BYTE.fullmatch(token):
            return ""
        text = self._tokenizer.convert_tokens_to_string([token]).strip().removeprefix("▁")
        if len(text.split()) != 1 or "\N{REPLACEMENT CHARACTER}" in text:
            return ""
        return text if _begins_word(token) else INSIDE + text

    def read(self, pieces: list[int], *, progress: bool) -> NDArray[np.float32]:
        """The vector of every piece between the special tokens that begin and end a text."""
        text = self._tokenizer("a", return_special_tokens_mask=True)
        (place, *_) = inside = [number for number, special in enumerate(text["special_tokens_mask"]) if not special]
        before, after = text["input_ids"][:place], text["input_ids"][inside[-1] + 1 :]
        vectors = np.zeros((len(pieces), self.width), dtype="float32")
        with progress_bar(total=len(pieces), unit="pieces", shown=progress) as bar, self._torch.inference_mode():
            for start in range(0, len(pieces), _BATCH):
                some = pieces[start : start + _BATCH]
                texts = self._torch.tensor([[*before, piece, *after] for piece in some], device=self._device)
                hidden = self._model(input_ids=texts).last_hidden_state[:, place]
                vectors[start : start + _BATCH] = hidden.float().cpu().numpy()
                bar.update(len(some))
        return vectors


def _begins_word(token: str) -> bool:
    """Whether it is marked so, by a tokenizer that is not WordPiece."""
    return token.startswith(("Ġ", "▁"))
