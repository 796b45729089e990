"""Training that is killed while it saves: model-last is the old pipeline or the new one, never parts of both."""

from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path

from spacy.language import Language

from .._whole import whole_folder


def make_save_whole() -> Callable[[Language], Language]:
    """The callback for configs: `[training.before_to_disk]`.

    RETURNS (Callable[[Language], Language]): `save_whole`.
    """
    return save_whole


def save_whole(nlp: Language) -> Language:
    """Let `spacy train` replace model-last in one step. By itself, spaCy writes one of its files after the other: if it
    is killed meanwhile, the folder has components of two checkpoints, and loads without an error.

    nlp (Language): The pipeline that is trained. It is left as it is.
    RETURNS (Language): The same pipeline, which is saved as a whole or not at all.
    """

    def to_disk(path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        with whole_folder(Path(path)) as folder:
            nlp.to_disk(folder, exclude=exclude)

    whole = copy(nlp)
    whole.to_disk = to_disk  # type: ignore[method-assign]
    return whole
