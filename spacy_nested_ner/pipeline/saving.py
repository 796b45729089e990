"""Training that is killed while it saves: model-last is the old pipeline or the new one, never parts of both.

spaCy copies it to model-best itself, file by file. So that half a copy is never loaded, the component knows which files
the pipeline has: some that are missing are no error for spaCy, such as the words that word vectors belong to.
"""

from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language

from .._whole import whole_folder

FILES = "files"
"""Where the cfg of a component has the files of its pipeline."""


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
            _note_files(nlp, folder)

    whole = copy(nlp)
    whole.to_disk = to_disk  # type: ignore[method-assign]
    return whole


def _note_files(nlp: Language, folder: Path) -> None:
    """Let the components of a saved pipeline know its files."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    for name in nlp.component_names:
        cfg = folder / name / "cfg"
        if nlp.get_pipe_meta(name).factory == "nested_ner" and cfg.is_file():
            srsly.write_json(cfg, {**srsly.read_json(cfg), FILES: files})


def check_files(folder: Path, files: Any) -> None:
    """Raise an error if a pipeline lacks a file that it had when it was saved.

    folder (Path): The pipeline. A component that lies elsewhere is not checked.
    files (Any): What is in the cfg of a component; None if it does not say it.
    """
    if files is None or not (folder / "config.cfg").exists():
        return
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise ValueError(f"{FILES} is {files!r:.60}; expected a list of file names")
    missing = [file for file in files if not (folder / file).exists()]
    if missing:
        raise FileNotFoundError(
            f"the pipeline in {folder} is not complete: there is no {missing[0]}. If spacy train was killed while it "
            f"copied model-last to model-best, model-last is that pipeline: copy it again"
        )
