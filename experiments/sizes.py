"""What is learned from how many sentences: two systems side by side, on the seeds that both have."""

import statistics
from collections import defaultdict

from accuracy import weights
from leads import Pair, lead, pair_of, show_lead
from markup import markdown, percent
from results import Result

# The systems that are compared, by the names of the plan.
BEFORE, AFTER = "spancat", "nested_ner"


def pairs_of(results: dict[str, list[Result]]) -> dict[int, Pair]:
    """By number of sentences, smallest first.

    results (dict[str, list[Result]]): The runs of one corpus, by name.
    """
    by_size: dict[int, dict[str, list[Result]]] = defaultdict(lambda: {BEFORE: [], AFTER: []})
    for name, runs in results.items():
        system = name.rpartition(", ")[0]
        for run in runs if system in (BEFORE, AFTER) else ():
            by_size[run["sentences"]][system].append(run)
    pairs = {size: pair_of(systems[BEFORE], systems[AFTER]) for size, systems in sorted(by_size.items())}
    return {size: pair for size, pair in pairs.items() if pair.before}


def size_table(corpora: dict[str, dict[int, Pair]]) -> str:
    """One row per corpus and number of sentences: test F of both, the lead with its interval, and that of the worst
    seed."""
    rows = []
    for corpus, pairs in corpora.items():
        for size, pair in pairs.items():
            before, after = test_f(pair)
            lowest = min(ours - theirs for theirs, ours in zip(before, after))
            means = [percent(statistics.mean(scores)) for scores in (before, after)]
            shown = [show_lead(lead([[pair]])), f"{100 * lowest:+.1f}"]
            rows.append([corpus, f"{size:,}", str(len(before)), *means, *shown])
    return markdown(["test F", "sentences", "seeds", BEFORE, AFTER, "lead", "lowest lead"], rows)


def short_size_table(corpora: dict[str, dict[int, Pair]]) -> str:
    """The leads alone: one row per number of sentences, one column per corpus."""
    sizes = sorted({size for pairs in corpora.values() for size in pairs})
    rows = [
        [f"{size:,}", *(show_lead(lead([[pairs[size]]])) if size in pairs else "" for pairs in corpora.values())]
        for size in sizes
    ]
    return markdown(["sentences", *corpora], rows)


def test_f(pair: Pair) -> tuple[list[float], list[float]]:
    """Test F of both, with the threshold that is best on dev."""
    before, after = ([_test_f(run) for run in runs] for runs in pair)
    return before, after


def _test_f(run: Result) -> float:
    f: float = weights(run)["points"][str(run["updates"][-1])]["tuned"]["test"]["f"]
    return f
