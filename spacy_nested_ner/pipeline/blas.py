"""Multiply matrices with the BLAS that NumPy is built with, in all layers of a pipeline.

Thinc multiplies with BLIS. NumPy's BLAS, which is OpenBLAS in the wheels on PyPI for Linux and Windows, can be three
times faster, and a pipeline with a tok2vec spends most of its time in matrix products. Both use one thread.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from spacy.language import Language
from thinc.api import Model, NumpyOps, get_current_ops, set_current_ops

from ..model.one_thread import one_thread

Pipeline = TypeVar("Pipeline", Language, type[Language])


class NumpyBlasOps(NumpyOps):
    """Thinc's operations for the CPU, with NumPy's matrix products, on one thread."""

    def __init__(self) -> None:
        super().__init__(use_blis=False)

    def gemm(self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
        with one_thread:
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return NumpyBlasOps, ()


def make_use_numpy_blas() -> Callable[[Pipeline], Pipeline]:
    """The callback for configs: `[nlp.after_pipeline_creation]` or `[nlp.before_creation]`.

    RETURNS (Callable[[Pipeline], Pipeline]): `use_numpy_blas`.
    """
    return use_numpy_blas


def use_numpy_blas(nlp: Pipeline) -> Pipeline:
    """Let layers that multiply with BLIS multiply with NumPy instead. Others stay as they are: those on a GPU, and
    those of Thinc's operations for Apple, which have a fast BLAS of their own. Results differ by rounding only.

    nlp (Language | type[Language]): A pipeline, all layers of which are switched (`after_pipeline_creation`). Or the
        class of one that is yet to be created: then all that this thread creates from now on (`before_creation`).
    RETURNS (Language | type[Language]): The same.
    """
    if isinstance(nlp, type):
        if _has_blis(get_current_ops()):
            set_current_ops(NumpyBlasOps())
        return nlp
    ops = NumpyBlasOps()
    for _, component in nlp.components:
        model = getattr(component, "model", None)
        for layer in model.walk() if isinstance(model, Model) else ():
            if _has_blis(layer.ops):
                layer.ops = ops
    return nlp


def _has_blis(ops: Any) -> bool:
    # Subclasses are other devices, or have chosen another BLAS.
    return type(ops) is NumpyOps
