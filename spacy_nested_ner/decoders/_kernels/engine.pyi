from ..mention import Mention
from .batch import Batch

class BadWeightError(Exception):
    number: int

class Space:
    short_child: int
    multi_label: bool
    def __init__(self, short_child: int, multi_label: bool) -> None: ...

def decode(batch: Batch, space: Space) -> list[list[Mention]]: ...
def log_partition(batch: Batch, space: Space, marginals: bool) -> list[float]: ...
def sample(batch: Batch, space: Space, n_samples: int, seed: int) -> list[list[list[Mention]]]: ...
