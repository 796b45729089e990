"""Type aliases that several layers share."""

from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

# For arrays that are indexed with arrays or several slices: Thinc's array types know neither.
Array = Any
Tok2Vec = Model[list[Doc], list[Floats2d]]
