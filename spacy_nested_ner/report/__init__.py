"""What a trained pipeline gets right and wrong on a corpus, as numbers and as a page to look at."""

from .confidence import error_by_chance, log_loss, ranking, reliability
from .measures import measure
from .page import render_page
from .predictions import Judged, predict

__all__ = ["Judged", "error_by_chance", "log_loss", "measure", "predict", "ranking", "reliability", "render_page"]
