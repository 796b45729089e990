"""The runs of plan.yml."""

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import encoder
import srsly

ROOT = Path(__file__).parent.parent
PLAN = Path(__file__).parent / "plan.yml"
RESULTS = Path(__file__).parent / "results"
_FIELDS = {"about", "corpora", "seeds", "updates", "runs", "beside", "set", "max_length", "eval_frequency"}


@dataclass(frozen=True)
class Run:
    """One training: a config with its changes, a corpus and a seed.

    updates (list[int]): Where the test set is scored; the last one ends the training.
    train (str): Name of the training file in the folder of the corpus.
    max_length (int): Longest piece of a document in training, in tokens.
    saved_as (Run | None): The run of another group that this one is.
    """

    group: str
    name: str
    corpus: str
    folder: Path
    seed: int
    updates: list[int]
    config: Path
    set: dict[str, Any] = field(default_factory=dict)
    train: str = "train.spacy"
    max_length: int = 250
    eval_frequency: int = 500
    saved_as: "Run | None" = None

    @property
    def overrides(self) -> dict[str, Any]:
        """What is changed in the config, with the folder of the small transformer where it is named."""
        return {key: str(encoder.folder()) if value == encoder.NAME else value for key, value in self.set.items()}

    @property
    def title(self) -> str:
        return f"{self.group}/{self.name} on {self.corpus}, seed {self.seed}"

    @property
    def result(self) -> Path:
        if self.saved_as:
            return self.saved_as.result
        return RESULTS / "runs" / self.group / f"{self._file_name}.json"

    @property
    def model(self) -> Path:
        return ROOT / "training" / "experiments" / self.group / self._file_name

    @property
    def _file_name(self) -> str:
        return re.sub(r"[^\w.-]+", "_", f"{self.corpus}-{self.name}-{self.seed}")


def read_plan(path: Path = PLAN) -> list[Run]:
    """Every run, in the order of the plan."""
    plan = srsly.read_yaml(path)
    return [run for name, group in plan["groups"].items() for run in _runs(name, group, plan["corpora"])]


def runs_by_group(path: Path = PLAN) -> dict[str, list[Run]]:
    """What the tables of every group show: its runs, after those of other groups that stand beside them."""
    plan = srsly.read_yaml(path)
    every = read_plan(path)
    result = {}
    for name, group in plan["groups"].items():
        shown = [
            dataclasses.replace(run, name=title, updates=group["updates"], saved_as=run)
            for title, other in group.get("beside", {}).items()
            for run in every
            if f"{run.group}/{run.name}" == other and run.corpus in group["corpora"] and run.seed in group["seeds"]
        ]
        result[name] = shown + [run for run in every if run.group == name]
    return result


def _runs(group_name: str, group: dict[str, Any], folders: dict[str, str]) -> Iterator[Run]:
    if unknown := set(group) - _FIELDS:
        raise ValueError(f"the group {group_name!r} of the plan has {sorted(unknown)}; expected only {sorted(_FIELDS)}")
    common = {name: group[name] for name in ("max_length", "eval_frequency") if name in group}
    for seed in group["seeds"]:
        for corpus in group["corpora"]:
            for name, run in group["runs"].items():
                own = {"config": ROOT / run["config"], "set": group.get("set", {}) | run.get("set", {})}
                yield Run(
                    group=group_name,
                    name=name,
                    corpus=corpus,
                    folder=ROOT / folders[corpus],
                    seed=seed,
                    updates=group["updates"],
                    **{**common, **run, **own},
                )
