"""How fast the PyTorch layer is compared with torch-struct: a training step of a batch.

    python benchmarks/torch_layer.py [--output FOLDER] [--quick]

32 padded sentences of 40 tokens, 8 labels, float32, four gold mentions each, forward and backward, on the CPU.
Everything is measured in one process on one thread, the best of several rounds in which the competitors take turns.
torch-struct's TreeCRF is a distribution over binary trees: the nearest it has. Writes torch_layer.json and
torch_layer.txt.
"""

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path

from _measure import RESULTS, best_of, describe, load_average, machine, progress, table, verdict, write

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch

from spacy_nested_ner.decoders import CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder
from spacy_nested_ner.torch import NestedCRF

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_struct import TreeCRF

SENTENCES, TOKENS, LABELS, MENTIONS = 32, 40, 8, 4
DECODERS: dict[str, Decoder] = {"flat": FlatDecoder(), "quadratic": QuadraticDecoder(), "cubic": CubicDecoder()}
GOALS = {"quadratic: log-partition": 20, "quadratic: loss": 20}


def steps(scores: torch.Tensor) -> dict[str, Callable[[], object]]:
    """What is measured: everything ends with the gradient of the scores."""

    def step(result: Callable[[], torch.Tensor]) -> Callable[[], object]:
        def run() -> None:
            scores.grad = None
            result().sum().backward()

        return run

    lengths = torch.full((SENTENCES,), TOKENS)
    gold = [mentions[:MENTIONS] for mentions in FlatDecoder().decode(list(scores.detach().numpy()))]
    events = torch.zeros_like(scores)
    for number, mentions in enumerate(gold):
        for mention in mentions:
            events[number, mention.start, mention.end - 1, mention.label] = 1
    functions = {
        "torch-struct: log-partition": step(lambda: TreeCRF(scores, lengths=lengths).partition),
        "torch-struct: loss": step(lambda: -TreeCRF(scores, lengths=lengths).log_prob(events)),
        "torch-struct: entropy": step(lambda: TreeCRF(scores, lengths=lengths).entropy),
    }
    for name, decoder in DECODERS.items():
        crf = NestedCRF(decoder)
        functions[f"{name}: log-partition"] = step(lambda crf=crf: crf.log_partition(scores, lengths))
        functions[f"{name}: loss"] = step(lambda crf=crf: crf(scores, gold, lengths))
        functions[f"{name}: entropy"] = step(lambda crf=crf: crf.entropy(scores, lengths))
    # What another device would add at least: scores to the CPU, marginals back. On the CPU nothing is copied.
    functions["both copies, within memory"] = lambda: (scores.detach().clone(), scores.detach().clone())
    return functions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    before = load_average()
    progress(f"{SENTENCES} sentences of {TOKENS} tokens")
    functions = steps(torch.randn(SENTENCES, TOKENS, TOKENS, LABELS, requires_grad=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rounds = 2 if arguments.quick else 15
        best = best_of(functions, rounds, {name: 15 for name in functions if not name.startswith("torch")})
    load = {"before": before, "after": load_average()}
    rows = []
    for name, seconds in best.items():
        peer = best.get(f"torch-struct: {name.partition(': ')[2]}")
        times = peer / seconds if peer else None
        rows.append({"what": name, "seconds": seconds, "times": times, "goal": GOALS.get(name)})
    lines = [
        [
            row["what"],
            f"{1e3 * row['seconds']:.3f} ms",
            f"{row['times']:.1f}" if row["times"] else "",
            verdict(row["times"] or 0.0, at_least=row["goal"]),
        ]
        for row in rows
    ]
    text = f"{describe(load)}\n\n{table(['forward and backward', 'time', 'times faster', 'goal'], lines)}"
    write(arguments.output, "torch_layer", {"machine": machine(), "load": load, "rows": rows}, text)
    print(text)


if __name__ == "__main__":
    main()
