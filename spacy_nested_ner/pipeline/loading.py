"""Trained pipelines by the names that users give them."""

import os
from pathlib import Path

import spacy
from spacy.language import Language

from ..sample import SAMPLE_PATH


def find_pipeline(model: str) -> Path:
    """The folder of a trained pipeline; a ValueError if there is none.

    model (str): The folder itself, the name of an installed package, or `sample` for the one that comes along.
    """
    # os.path, because a text given in place of a pipeline can be too long for the name of a file.
    if model == "sample" and not os.path.exists(model):
        return SAMPLE_PATH
    if os.path.isfile(os.path.join(model, "meta.json")):
        return Path(model)
    if spacy.util.is_package(model):
        return Path(spacy.util.get_package_path(model))
    found = "that is no pipeline" if os.path.exists(model) else "there is no such folder or package"
    raise ValueError(
        f"MODEL is {model!r:.60}, but {found}; expected the folder of a trained pipeline, such as "
        f"training/model-best, the name of an installed one, or `sample`"
    )


def load_pipeline(model: str, gpu_id: int = -1) -> Language:
    """A trained pipeline, on a GPU if its number is not negative.

    model (str): As for `find_pipeline`.
    gpu_id (int): The number of the GPU, or -1 for the CPU.
    """
    path = find_pipeline(model)
    if gpu_id >= 0:
        spacy.require_gpu(gpu_id)
    # Packages are loaded by their name, because they can bring code of their own.
    return spacy.load(path if path == SAMPLE_PATH else model)
