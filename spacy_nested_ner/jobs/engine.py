"""What the engines have in common."""

from collections.abc import Sequence
from traceback import format_exc
from typing import NamedTuple

from .pieces import Piece

# How often a piece is tried if the process that works on it dies.
ATTEMPTS = 3
# Environment of processes that share the cores: threads of matrix products would only get into each other's way.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


class Raised(NamedTuple):
    """An error in another process.

    of_user (bool): Whether its message is for the user.
    text (str): The message, or the traceback.
    """

    of_user: bool
    text: str

    @classmethod
    def now(cls, error: Exception) -> "Raised":
        """From an error that is being handled."""
        of_user = isinstance(error, OSError | ValueError)
        return cls(of_user, str(error) if of_user else format_exc())

    def error(self) -> Exception:
        """An error to raise in this process."""
        return ValueError(self.text) if self.of_user else RuntimeError(self.text)


def not_finished(pieces: Sequence[Piece]) -> ValueError:
    """What is said about pieces whose processes died again and again."""
    some = "; ".join(f"{piece.name} from {piece.parts[0].name}" for piece in pieces[:3])
    return ValueError(
        f"{len(pieces)} pieces are not finished ({some}), because the processes that worked on them died {ATTEMPTS} "
        "times. If memory is short, use fewer processes or a smaller --batch-words; the same command goes on with "
        "these pieces"
    )
