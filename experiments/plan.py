"""The runs of plan.yml."""

import copy
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import encoder
import srsly
from results import file_name

ROOT = Path(__file__).parent.parent
PLAN = Path(__file__).parent / "plan.yml"
_COMMON = ("max_length", "eval_frequency", "patience", "bfloat16", "head_rate", "only_dev", "vectors")
_FIELDS = {"about", "corpora", "seeds", "sentences", "updates", "runs", "reuse", "set", *_COMMON}


@dataclass(frozen=True)
class Run:
    """One training run: a config with its changes, a corpus and a seed.

    updates (list[int]): When the test set is scored; training ends with the last one.
    patience (int): Training also ends when dev F was not higher for this many updates, and is scored as if it had
        gone on; 0 to go on.
    train (str): Name of the training file in the folder of the corpus.
    sentences (int): How many sentences to train on, in whole documents drawn by the seed; 0 for all.
    max_length (int): Longest piece of a document in training, in tokens.
    bfloat16 (bool): Whether a transformer multiplies in bfloat16.
    head_rate (float): Multiplies the learning rate of the last component, for those that have no such setting.
    only_dev (bool): The test set is not scored: a choice is still to be made.
    vectors (bool): Whether tok2vec has word vectors that were taken from the small transformer.
    source (Run | None): The run of another group whose result this one shows.
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
    sentences: int = 0
    patience: int = 0
    bfloat16: bool = False
    head_rate: float = 1.0
    only_dev: bool = False
    vectors: bool = False
    source: "Run | None" = None

    @property
    def overrides(self) -> dict[str, Any]:
        """What is changed in the config, with the name of the small transformer replaced by its folder."""
        return {key: str(encoder.folder()) if value == encoder.NAME else value for key, value in self.set.items()}

    @property
    def title(self) -> str:
        return f"{self.group}/{self.name} on {self.corpus}, seed {self.seed}"

    @property
    def key(self) -> str:
        """Names the result within the group."""
        return f"{self.corpus}/{self.name}/{self.seed}"

    @property
    def model(self) -> Path:
        return ROOT / "training" / "experiments" / self.group / file_name(self.key)


def read_plan(path: Path = PLAN) -> list[Run]:
    """Every run, in the order of the plan."""
    plan = srsly.read_yaml(path)
    return [run for name, group in plan["groups"].items() for run in _runs(name, group, plan)]


def titles(path: Path = PLAN) -> dict[str, str]:
    """What each group is about."""
    return {name: group["about"] for name, group in srsly.read_yaml(path)["groups"].items()}


def runs_by_group(path: Path = PLAN) -> dict[str, list[Run]]:
    """What the tables of each group show: the runs it reuses, then its own."""
    plan = srsly.read_yaml(path)
    every = read_plan(path)
    result = {}
    for name, group in plan["groups"].items():
        reused = [
            dataclasses.replace(run, name=title, updates=group["updates"], source=run)
            for title, other in group.get("reuse", {}).items()
            for run in every
            if f"{run.group}/{run.name}" == other and run.corpus in group["corpora"] and run.seed in group["seeds"]
        ]
        result[name] = reused + [run for run in every if run.group == name]
    return result


def _runs(group_name: str, group: dict[str, Any], plan: dict[str, Any]) -> Iterator[Run]:
    if unknown := set(group) - _FIELDS:
        raise ValueError(f"the group {group_name!r} of the plan has {sorted(unknown)}; expected only {sorted(_FIELDS)}")
    common = {name: group[name] for name in _COMMON if name in group}
    for seed, sentences, corpus in product(group["seeds"], group.get("sentences", [0]), group["corpora"]):
        for name, run in group["runs"].items():
            # Copied, because overrides below a setting change its value in place.
            default = copy.deepcopy(plan.get("defaults", {}).get(run["config"], {}))
            own = {
                "config": ROOT / run["config"],
                "set": default | group.get("set", {}) | run.get("set", {}),
            }
            yield Run(
                group=group_name,
                name=f"{name}, {sentences:,} sentences" if sentences else name,
                corpus=corpus,
                folder=ROOT / plan["corpora"][corpus],
                seed=seed,
                sentences=sentences,
                updates=group["updates"],
                **{**common, **run, **own},
            )
