"""How fast the decoders are compared with torch-struct, and how their time grows with length.

    python benchmarks/decoders.py [--output FOLDER] [--quick]

Everything is measured in one process on one thread, the best of several rounds in which
the competitors take turns, on weights drawn from a normal distribution: float32, 8 labels.
Such weights are the hard case for us (about two mentions per token have to be written out;
real text has one for ten tokens), and make no difference to torch-struct. Writes results.json, results.txt
and timing.png (the timing figure of the paper: lengths 1 to 300, three decoders).
"""

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import matplotlib
import numpy as np
import torch

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, PackedScores, QuadraticDecoder, SpanLayout, count_spans

matplotlib.use("Agg")
from matplotlib import pyplot

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_struct import TreeCRF

LABELS = 8
DECODERS = {"flat": FlatDecoder(), "quadratic": QuadraticDecoder(), "cubic": CubicDecoder()}


def progress(text: str) -> None:
    print(f"  … {text}", file=sys.stderr, flush=True)


def clock(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best_of(functions: dict[str, Callable[[], object]], rounds: int, repeats: dict[str, int]) -> dict[str, float]:
    """Seconds of every function: the best of `rounds`, in each of which all take their turn."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            for _ in range(repeats.get(name, 1)):
                best[name] = min(best[name], clock(function))
    return best


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


def table(rows: list[dict]) -> str:
    """Rows as text; a goal that is missed is marked."""
    lines = [f"{'':<66} {'time':>10} {'factor':>8}   goal"]
    for row in rows:
        factor = row.get("times") or row["ratio"]
        goal, met = "", True
        if row.get("goal"):
            goal, met = f"≥ {row['goal']}×", factor >= row["goal"]
        elif row.get("limit"):
            goal, met = f"≤ {row['limit']}", factor <= row["limit"]
        mark = "" if not goal else " reached" if met else " MISSED"
        unit = f"{1e6 * row['seconds']:.1f} µs" if row["seconds"] < 1e-3 else f"{1e3 * row['seconds']:.2f} ms"
        lines.append(f"{row['what']:<66} {unit:>10} {factor:>8.1f}   {goal}{mark}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and lengths")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rounds = 2 if arguments.quick else 7
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        progress("one sentence of 300 tokens")
        rows += against_torch_struct(rounds)
        progress("1,000 sentences of 25 tokens")
        rows += short_sentences(rounds)
    progress("growth")
    rows += growth(rounds)
    progress("lengths 1 to 300")
    curves = timing_curves(50 if arguments.quick else 5)

    text = table(rows)
    arguments.output.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
    record = {"machine": {**machine, "processor": platform.machine()}, "rows": rows, "curves": curves}
    (arguments.output / "results.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    (arguments.output / "results.txt").write_text(text + "\n", encoding="utf-8")
    draw(curves, arguments.output / "timing.png")
    print(text)
    print(f"\nThe figure is {arguments.output / 'timing.png'}")


if __name__ == "__main__":
    main()
