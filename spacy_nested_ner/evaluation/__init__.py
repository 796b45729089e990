"""Numbers about corpora and trained pipelines."""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from .calibration import Calibration, Confidence, calibrate
    from .confidence import error_by_chance, log_loss, ranking, reliability
    from .coverage import Coverage, measure_coverage
    from .measures import measure
    from .predictions import Judged, predict
    from .resampling import Resampling
    from .scorer import nested_ner_score
    from .scores import DifferenceTable, ScoreTable, difference_table, score_table
    from .statistics import Statistics, collect_statistics
    from .thresholds import ThresholdChoice, ThresholdScore

# Loaded when they are asked for: spaCy imports this package for its scorer alone.
_MODULES = {
    "calibration": ("Calibration", "Confidence", "calibrate"),
    "confidence": ("error_by_chance", "log_loss", "ranking", "reliability"),
    "coverage": ("Coverage", "measure_coverage"),
    "measures": ("measure",),
    "predictions": ("Judged", "predict"),
    "resampling": ("Resampling",),
    "scorer": ("nested_ner_score",),
    "scores": ("DifferenceTable", "ScoreTable", "difference_table", "score_table"),
    "statistics": ("Statistics", "collect_statistics"),
    "thresholds": ("ThresholdChoice", "ThresholdScore"),
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _MODULES)
