"""What is learned from how many sentences: two systems side by side, on the seeds that both have."""

import statistics
from collections import defaultdict
from typing import NamedTuple

from accuracy import weights
from markup import markdown, percent
from results import Result

# The systems that are compared, by the names of the plan.
BEFORE, AFTER = "spancat", "nested_ner"


class Pair(NamedTuple):
    """Both systems with one number of sentences, one value per seed.

    before, after (list[float]): Test F, with the threshold that is best on dev.
    """

    before: list[float]
    after: list[float]


def pairs_of(results: dict[str, list[Result]]) -> dict[int, Pair]:
    """By number of sentences, smallest first.

    results (dict[str, list[Result]]): The runs of one corpus, by name.
    """
    scores: dict[int, dict[str, dict[int, float]]] = defaultdict(dict)
    for name, runs in results.items():
        system = name.rpartition(", ")[0]
        if system not in (BEFORE, AFTER):
            continue
        for run in runs:
            point = weights(run)["points"][str(run["updates"][-1])]
            scores[run["sentences"]].setdefault(system, {})[run["seed"]] = point["tuned"]["test"]["f"]
    pairs = {}
    for size, systems in sorted(scores.items()):
        before, after = systems.get(BEFORE, {}), systems.get(AFTER, {})
        seeds = sorted(before.keys() & after.keys())
        if seeds:
            pairs[size] = Pair([before[seed] for seed in seeds], [after[seed] for seed in seeds])
    return pairs


def size_table(corpora: dict[str, dict[int, Pair]]) -> str:
    """One row per corpus and number of sentences: test F of both, and the lead over all seeds and on the worst one."""
    rows = []
    for corpus, pairs in corpora.items():
        for size, (before, after) in pairs.items():
            leads = [100 * (ours - theirs) for theirs, ours in zip(before, after)]
            means = [percent(statistics.mean(scores)) for scores in (before, after)]
            shown = [f"{statistics.mean(leads):+.1f}", f"{min(leads):+.1f}"]
            rows.append([corpus, f"{size:,}", str(len(leads)), *means, *shown])
    return markdown(["test F", "sentences", "seeds", BEFORE, AFTER, "lead", "lowest lead"], rows)
