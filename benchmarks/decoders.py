"""How fast the decoders are compared with torch-struct, and how their time grows with length.

    python benchmarks/decoders.py [--output FOLDER] [--quick]

Everything is measured in one process on one thread, the best of several rounds in which
the competitors take turns, on weights drawn from a normal distribution: float32, 8 labels.
Such weights are the hard case for us (about two mentions per token have to be written out;
real text has one for ten tokens), and make no difference to torch-struct. Writes decoders.json, decoders.txt
and decoders.png (the timing figure of the paper: lengths 1 to 300, three decoders).
"""

import argparse
import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from _measure import RESULTS, best_of, describe, load_average, machine, progress, table, verdict, write

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import matplotlib
import numpy as np
import torch

from spacy_nested_ner.decoders import (
    CubicDecoder,
    Decoder,
    FlatDecoder,
    PackedScores,
    QuadraticDecoder,
    SpanLayout,
    count_spans,
)

matplotlib.use("Agg")
from matplotlib import pyplot

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_struct import TreeCRF

LABELS = 8
DECODERS = {"flat": FlatDecoder(), "quadratic": QuadraticDecoder(), "cubic": CubicDecoder()}
# For the cost of 1,000 words: decoders, and lengths of sentences and of the longest span in them.
ALL_DECODERS: dict[str, Callable[[int], Decoder]] = {
    "flat": lambda longest: FlatDecoder(max_span_length=longest),
    "c = 1": lambda longest: QuadraticDecoder(max_span_length=longest),
    "c = 2": lambda longest: QuadraticDecoder(max_span_length=longest, max_short_child=2),
    "c = 3": lambda longest: QuadraticDecoder(max_span_length=longest, max_short_child=3),
    "cubic": lambda longest: CubicDecoder(max_span_length=longest),
    "c = 1, multi_label": lambda longest: QuadraticDecoder(max_span_length=longest, multi_label=True),
}
LENGTHS = [(25, 10), (50, 30), (100, 60), (300, 300)]


def weights(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def against_torch_struct(rounds: int) -> list[dict]:
    """One sentence of 300 tokens."""
    n = 300
    scores = weights(n, n, LABELS)
    theirs, lengths = torch.from_numpy(scores)[None], torch.tensor([n])
    packed = PackedScores.pack([scores])
    functions: dict[str, Callable[[], object]] = {
        "torch-struct decode": lambda: TreeCRF(theirs, lengths=lengths).argmax,
        "torch-struct marginals": lambda: TreeCRF(theirs, lengths=lengths).marginals,
    }
    for name in ("flat", "quadratic", "cubic"):
        decoder = DECODERS[name]
        functions[f"{name} decode"] = lambda d=decoder: d.decode(scores)
        functions[f"{name} marginals"] = lambda d=decoder: d.log_partition_and_marginals(scores)
        functions[f"{name} decode, packed"] = lambda d=decoder: d.decode(packed)
        functions[f"{name} decode to arrays, packed"] = lambda d=decoder: d.decode_arrays(packed)
        functions[f"{name} marginals, packed"] = lambda d=decoder: d.log_partition_and_marginals(packed)
    best = best_of(functions, rounds, {name: 15 for name in functions if not name.startswith("torch")})
    goals = {
        "quadratic decode": 500,
        "cubic decode": 80,
        "quadratic marginals": 100,
        "cubic marginals": 25,
    }
    rows = []
    for name, seconds in best.items():
        peer = best["torch-struct decode" if "decode" in name else "torch-struct marginals"]
        rows.append({"what": f"n = 300: {name}", "seconds": seconds, "times": peer / seconds, "goal": goals.get(name)})
    return rows


def short_sentences(rounds: int) -> list[dict]:
    """1,000 sentences of 25 tokens in one call, torch-struct's in batches of 100."""
    n, many = 25, 1000
    scores = weights(many, n, n, LABELS)
    arrays, packed = list(scores), PackedScores.pack(scores)
    batch, lengths = torch.from_numpy(scores[:100]), torch.full((100,), n)
    functions: dict[str, Callable[[], object]] = {"torch-struct": lambda: TreeCRF(batch, lengths=lengths).argmax}
    for name, decoder in DECODERS.items():
        functions[name] = lambda d=decoder: d.decode(arrays)
        functions[f"{name}, packed"] = lambda d=decoder: d.decode(packed)
        functions[f"{name}, packed, to arrays"] = lambda d=decoder: d.decode_arrays(packed)
    best = best_of(functions, 2 * rounds, {name: 3 for name in functions if name != "torch-struct"})
    best = {name: seconds / (100 if name == "torch-struct" else many) for name, seconds in best.items()}
    goals = {"quadratic": 10}
    return [
        {
            "what": f"n = 25, per sentence: {name} decode",
            "seconds": seconds,
            "times": best["torch-struct"] / seconds,
            "goal": goals.get(name),
        }
        for name, seconds in best.items()
    ]


def growth(rounds: int) -> list[dict]:
    """How time grows when a segment gets twice as long.

    Weights are moved down by 3, which leaves about as many mentions as real text has: with two
    mentions per token, the time that Python takes to make 40,000 tuples would be measured.
    """
    quadratic, banded = QuadraticDecoder(), QuadraticDecoder(max_span_length=32)
    dense = {n: weights(n, n, LABELS) - 3 for n in (500, 1000)}
    packed = {n: PackedScores(weights(LABELS, count_spans(n, 32)) - 3, SpanLayout([n], 32)) for n in (10_000, 20_000)}
    crowded = {n: scores.like(scores.values + 3) for n, scores in packed.items()}
    cases = [
        ("quadratic decode", quadratic.decode, dense, 4.6),
        ("quadratic marginals", quadratic.log_partition_and_marginals, dense, None),
        ("packed, max_span_length=32, decode", banded.decode, packed, 2.3),
        ("packed, max_span_length=32, marginals", banded.log_partition_and_marginals, packed, 2.3),
        ("packed, two mentions per token, decode", banded.decode, crowded, 2.3),
    ]
    rows = []
    for name, function, inputs, limit in cases:
        short, long = inputs
        best = best_of(
            {str(n): partial(function, scores) for n, scores in inputs.items()},
            3 * rounds,
            {str(short): 4, str(long): 2},
        )
        rows.append(
            {
                "what": f"{name}: time({long}) / time({short})",
                "seconds": best[str(long)],
                "ratio": best[str(long)] / best[str(short)],
                "limit": limit,
            }
        )
    return rows


def costs(rounds: int) -> list[dict]:
    """Seconds for 1,000 words, with 5 labels and about as many mentions as real text has."""
    rows = []
    for tokens, longest in LENGTHS:
        layout = SpanLayout([tokens] * (3000 // tokens), longest)
        scores = PackedScores(weights(5, layout.n_spans) - 3, layout)
        functions: dict[str, Callable[[], object]] = {}
        for name, make in ALL_DECODERS.items():
            decoder = make(longest)
            functions[f"{name}: marginals"] = partial(decoder.log_partition_and_marginals, scores)
            functions[f"{name}: best"] = partial(decoder.decode, scores)
        seconds = {name: each / 3 for name, each in best_of(functions, 2 * rounds, {}).items()}
        rows.append({"tokens": tokens, "longest": longest, "seconds": seconds})
    return rows


def timing_curves(step: int) -> dict[str, list[tuple[int, float]]]:
    """Seconds per sentence for lengths 1 to 300, as in the paper's figure."""
    curves: dict[str, list[tuple[int, float]]] = {name: [] for name in DECODERS}
    for n in [1, *range(step, 301, step)]:
        scores = weights(n, n, LABELS)
        functions = {name: partial(decoder.decode, scores) for name, decoder in DECODERS.items()}
        for name, seconds in best_of(functions, 7, {}).items():
            curves[name].append((n, seconds))
    return curves


def draw(curves: dict[str, list[tuple[int, float]]], path: Path) -> None:
    figure, (whole, close) = pyplot.subplots(1, 2, figsize=(10, 4))
    styles = {"flat": ("--", "flat, O(n²)"), "quadratic": (":", "nested, O(n²)"), "cubic": ("-", "nested, O(n³)")}
    for axes in (whole, close):
        for name, points in curves.items():
            line, label = styles[name]
            axes.plot(*zip(*[(n, 1e3 * s) for n, s in points]), "k" + line, label=label)
        axes.set_xlabel("tokens")
        axes.set_ylabel("milliseconds per sentence")
        axes.set_xlim(0)
        axes.set_ylim(0)
        axes.spines[["top", "right"]].set_visible(False)
    close.set_xlim(0, 100)
    close.set_ylim(0, 1.2 * 1e3 * max(s for points in curves.values() for n, s in points if n <= 100))
    whole.legend(frameon=False)
    whole.set_title("Decoding, 8 labels, one thread")
    close.set_title("The same, sentences of up to 100 tokens")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def report_costs(rows: list[dict]) -> str:
    """Milliseconds, marginals / best analysis."""
    lines = [
        [
            str(row["tokens"]),
            str(row["longest"]),
            *(
                " / ".join(f"{1e3 * row['seconds'][f'{name}: {what}']:.2f}" for what in ("marginals", "best"))
                for name in ALL_DECODERS
            ),
        ]
        for row in rows
    ]
    return table(["sentences of", "spans of up to", *ALL_DECODERS], lines)


def report(rows: list[dict]) -> str:
    """Rows as text; a goal that is missed is marked."""
    lines = []
    for row in rows:
        factor = row.get("times") or row["ratio"]
        unit = f"{1e6 * row['seconds']:.1f} µs" if row["seconds"] < 1e-3 else f"{1e3 * row['seconds']:.2f} ms"
        mark = verdict(factor, at_least=row.get("goal"), at_most=row.get("limit"))
        lines.append([row["what"], unit, f"{factor:.1f}", mark])
    return table(["", "time", "factor", "goal"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and lengths")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rounds = 2 if arguments.quick else 7
    before = load_average()
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        progress("one sentence of 300 tokens")
        rows += against_torch_struct(rounds)
        progress("1,000 sentences of 25 tokens")
        rows += short_sentences(rounds)
    progress("growth")
    rows += growth(rounds)
    progress("1,000 words")
    cost_rows = costs(rounds)
    progress("lengths 1 to 300")
    curves = timing_curves(50 if arguments.quick else 5)

    load = {"before": before, "after": load_average()}
    text = (
        f"{describe(load)}\n\n{report(rows)}\n\n"
        f"Milliseconds for 1,000 words with 5 labels, marginals / best analysis:\n\n{report_costs(cost_rows)}"
    )
    record = {"machine": machine(), "load": load, "rows": rows, "costs": cost_rows, "curves": curves}
    write(arguments.output, "decoders", record, text)
    draw(curves, arguments.output / "decoders.png")
    print(text)
    print(f"\nThe figure is {arguments.output / 'decoders.png'}")


if __name__ == "__main__":
    main()
