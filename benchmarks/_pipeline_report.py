"""What benchmarks/pipeline.py writes: tables, goals and the figure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from _measure import table, verdict
from _systems import DECODERS, SYSTEMS, TRANSFORMERS

BLIS, NUMPY = "blis", "numpy"
PHASES = ("predict", "train")
LABELS = (5, 200)
TRANSFORMER = "transformer"
# Goals: shares of the speed of tok2vec alone, and times the speed of spancat with 1–10-grams.
SHARES = {("predict", BLIS): 0.85, ("predict", NUMPY): 0.70, ("train", BLIS): 0.80, ("train", NUMPY): 0.65}
TIMES_SPANCAT = {("predict", BLIS): 5.0, ("predict", NUMPY): 4.0}
# MB beyond spancat with 1–10-grams on GENIA: half of what it was with 20,000 rows of n-grams.
SIZE_BEYOND_SPANCAT = 2.45

# What was measured, by pipeline and corpus.
Results = Mapping[str, Mapping[str, Mapping[str, float]]]
Goal = tuple[str, float, str]


def report(corpora: Sequence[str], results: Results, *, lengths: tuple[int, int], blas: str) -> str:
    """Everything as text.

    corpora (Sequence[str]): The first of them has the rows that are not measured on all.
    lengths (tuple[int, int]): Tokens of a short and a long segment.
    blas (str): What NumPy multiplies with.
    """
    first, systems = corpora[0], list(SYSTEMS)
    parts = ["Words per second of CPU time on one thread; in brackets the share of tok2vec alone."]
    parts += [_speeds(corpus, systems, results, blas) for corpus in corpora]
    parts.append(
        "Without a figure: span_finder found no candidates after so little training, so that spancat did nothing."
    )
    parts += [
        "nested_ner with other decoders:",
        _speeds(first, ["tok2vec alone", "nested_ner", *DECODERS], results, blas),
    ]
    parts.append(
        f"On {first} with BLIS: peak memory beyond the start, size on disk, and CPU time to the first document. spaCy "
        f"imports the extensions that are installed, among them PyTorch if it is."
    )
    parts.append(_other(first, systems, results))
    if set(TRANSFORMERS) <= set(results):
        speeds = {system: results[system][TRANSFORMER][f"predict {BLIS}"] for system in TRANSFORMERS}
        lines = [[system, f"{1e6 / speed:,.0f} µs"] for system, speed in speeds.items()]
        parts.append(table(["all-MiniLM-L6-v2, prediction", "per token"], lines))
    marks = [*_speed_goals(corpora, results, blas), *_scale_goals(corpora, results, lengths, blas)]
    parts.append(table(["goal", "value", ""], [[what, f"{value:.2f}", mark] for what, value, mark in marks]))
    return "\n\n".join(parts)


def _speeds(corpus: str, systems: Sequence[str], results: Results, blas: str) -> str:
    cells = list(product(PHASES, (BLIS, NUMPY)))
    keys = [f"{phase} {kind}" for phase, kind in cells]
    base = results["tok2vec alone"][corpus]
    lines = []
    for system in systems:
        speeds = [(speed_of(results, system, corpus, key), base[key]) for key in keys]
        lines.append([system, *(f"{speed:,.0f} ({speed / alone:.2f})" if speed else "–" for speed, alone in speeds)])
    return table([corpus, *(f"{phase}, {_name(kind, blas)}" for phase, kind in cells)], lines)


def speed_of(results: Results, system: str, corpus: str, key: str) -> float:
    """Words per second; 0 if nothing was trained: nobody trains faster than the encoder that all of them have."""
    speed = results[system][corpus][key]
    return 0.0 if key.startswith("train") and speed > 1.1 * results["tok2vec alone"][corpus][key] else speed


def _other(corpus: str, systems: Sequence[str], results: Results) -> str:
    head = ["", "memory, predict", "memory, train", "on disk", "import", "load", "first document", "together"]
    lines = []
    for system in systems:
        numbers = results[system][corpus]
        sizes = [f"{numbers[key]:,.0f} MB" for key in ("memory predict", "memory train")] + [
            f"{numbers['size']:.1f} MB"
        ]
        times = [f"{numbers[f'time {step}']:.2f} s" for step in ("import", "load", "first", "all")]
        lines.append([system, *sizes, *times])
    return table(head, lines)


def _speed_goals(corpora: Sequence[str], results: Results, blas: str) -> Iterator[Goal]:
    for corpus, phase, kind in product(corpora, PHASES, (BLIS, NUMPY)):
        speed = {system: results[system][corpus][f"{phase} {kind}"] for system in SYSTEMS}
        where = f"{corpus}, {phase}, {_name(kind, blas)}"
        share = speed["nested_ner"] / speed["tok2vec alone"]
        yield f"{where}: share of tok2vec alone", share, verdict(share, at_least=SHARES[phase, kind])
        aims = {"ner": 1.0, "spancat, 1–3-grams": 1.0, "spancat, 1–10-grams": TIMES_SPANCAT.get((phase, kind))}
        for other, aim in aims.items():
            times = speed["nested_ner"] / speed[other]
            yield f"{where}: times {other}", times, verdict(times, at_least=aim)


def _scale_goals(corpora: Sequence[str], results: Results, lengths: tuple[int, int], blas: str) -> Iterator[Goal]:
    ours, first = results["nested_ner"], corpora[0]
    short, long = lengths
    for corpus in corpora:
        ratio = ours[corpus][f"length {long}"] / ours[corpus][f"length {short}"]
        yield f"{corpus}: time per token, {long:,} / {short:,} tokens", ratio, verdict(ratio, at_most=1.3)
    few, many = (ours[with_labels(first, number)] for number in LABELS)
    for phase, kind in product(PHASES, (BLIS, NUMPY)):
        ratio = few[f"{phase} {kind}"] / many[f"{phase} {kind}"]
        what = f"{first}, {phase}, {_name(kind, blas)}: time with {LABELS[1]} / {LABELS[0]} labels"
        yield what, ratio, verdict(ratio, at_most=1.5)
    size = ours[first]["size"] - results["spancat, 1–10-grams"][first]["size"]
    yield f"{first}: MB on disk beyond spancat, 1–10-grams", size, verdict(size, at_most=SIZE_BEYOND_SPANCAT)


def with_labels(corpus: str, number: int) -> str:
    """The name of a corpus with other labels."""
    return f"{corpus}, {number} labels"


def draw(corpora: Sequence[str], results: Results, path: Path, *, blas: str) -> None:
    """Words per second as bars."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    systems = list(SYSTEMS)[::-1]
    shape = {"figsize": (10, 3.2 * len(corpora)), "layout": "constrained"}
    figure, grid = pyplot.subplots(len(corpora), 2, squeeze=False, sharey=True, **shape)
    for (corpus, line), (column, phase) in product(zip(corpora, grid), enumerate(PHASES)):
        axes = line[column]
        for offset, kind, color in ((0.2, BLIS, "0.65"), (-0.2, NUMPY, "0.25")):
            speeds = [speed_of(results, system, corpus, f"{phase} {kind}") / 1000 for system in systems]
            axes.barh([y + offset for y in range(len(systems))], speeds, 0.4, color=color, label=_name(kind, blas))
        axes.set_yticks(range(len(systems)), systems)
        axes.set_title(f"{corpus}: {phase}")
        axes.set_xlabel("thousand words per second, one core")
        axes.spines[["top", "right"]].set_visible(False)
    grid[0][0].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=120)


def _name(kind: str, blas: str) -> str:
    return blas if kind == NUMPY else "BLIS"
