"""Put the speed figures of the benchmarks into README.md and docs/. `make benchmark` does so in the end.

    python benchmarks/figures.py

A page names a table, or a figure within a sentence, in a comment: `<!-- figure NAME -->…<!-- end -->`. What stands
between the comments is made from the JSON files in benchmarks/results. What has not been measured is left as it is.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from _measure import ALONE, RESULTS, ROOT, table
from _pipeline_report import speed_of

PLACE = re.compile(r"(<!-- figure ([\w-]+) -->)(.*?)(<!-- end -->)", re.DOTALL)
SPANCAT = "spancat, 1–10-grams"
_CELLS = ("predict blis", "predict numpy", "train blis", "train numpy")
_TITLES = {"ner": "spaCy's ner"}
_CORPORA = {"genia": "GENIA", "litbank": "LitBank"}


def main() -> None:
    for path in pages():
        text = path.read_text(encoding="utf-8")
        filled, missing = fill(text)
        for name in missing:
            print(f"{path.relative_to(ROOT)}: {name} is left as it is, because it has not been measured")
        if filled != text:
            path.write_text(filled, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: new figures")


def pages() -> Iterator[Path]:
    """What may have figures."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def fill(page: str) -> tuple[str, list[str]]:
    """The page with its figures, and the names of those that have not been measured."""
    missing = []

    def figure(place: re.Match[str]) -> str:
        start, name, _, end = place.groups()
        try:
            text = FIGURES[name]()
        except LookupError:
            if name not in FIGURES:
                raise ValueError(f"there is no figure {name!r}; expected one of {', '.join(FIGURES)}") from None
            missing.append(name)
            return place.group()
        return f"{start}\n\n{text}\n\n{end}" if text.startswith("|") else f"{start}{text}{end}"

    return PLACE.sub(figure, page), missing


@cache
def _result(name: str) -> Any:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _pipeline(system: str, corpus: str) -> dict[str, float]:
    found: dict[str, float] = _result("pipeline")["results"][system][corpus]
    return found


def _speed(system: str, corpus: str, cell: str) -> float:
    return speed_of(_result("pipeline")["results"], system, corpus, cell)


def _speeds(corpus: str) -> str:
    systems = ["tok2vec alone", "nested_ner", "ner", "spancat, 1–3-grams", SPANCAT, "spancat, span_finder"]
    rows = []
    for system in systems:
        pairs = [(_speed(system, corpus, cell), _speed("tok2vec alone", corpus, cell)) for cell in _CELLS]
        cells = [f"{speed:,.0f} ({speed / alone:.2f})" if speed else "–" for speed, alone in pairs]
        rows.append([_TITLES.get(system, system), *cells])
    head = ["predict, BLIS", "predict, OpenBLAS", "train, BLIS", "train, OpenBLAS"]
    return table([_CORPORA[corpus], *head], rows)


def _needs() -> str:
    rows = []
    for system in ("tok2vec alone", "nested_ner", SPANCAT):
        found = _pipeline(system, "genia")
        memory = [f"{found[f'memory {phase}']:,.0f} MB" for phase in ("predict", "train")]
        rows.append([system, *memory, f"{found['size']:.1f} MB", f"{found['time all']:.1f} s"])
    return table(["", "memory, predict", "memory, train", "on disk", "time to the first document"], rows)


def _decoders() -> str:
    names = {"nested_ner": "AutoDecoder: cubic"} | {
        name: name for name in ("flat", "c = 1", "c = 2", "c = 3", "c = 1, multi_label", "cubic")
    }
    rows = [
        [title, *(f"{_speed(name, 'genia', cell):,.0f}" for cell in ("predict numpy", "train numpy"))]
        for name, title in names.items()
    ]
    return table(["GENIA, OpenBLAS", "predict", "train"], rows)


def _long_segments() -> str:
    rows = []
    for corpus, title in _CORPORA.items():
        short, long = (_pipeline("nested_ner", corpus)[f"length {tokens}"] for tokens in (2_000, 200_000))
        rows.append([title, f"{1e6 * short:.1f} µs", f"{1e6 * long:.1f} µs", f"{long / short:.2f}"])
    return table(["", "2,000 tokens", "200,000 tokens", "ratio"], rows)


def _span_limit() -> str:
    times = {what.removeprefix(ALONE): micros for what, _, micros in _result("long_document")["rows"] if ALONE in what}
    if len(times) < 2:
        raise LookupError("measured without a corpus, or no mention is left out")
    titles = ['`"auto"`', "the longest mention"]
    rows = [[title, limit.strip(), f"{micros:.1f}"] for title, (limit, micros) in zip(titles, times.items())]
    return table(["LitBank", "limit", "µs per token"], rows)


def _transformer() -> str:
    titles = {
        "transformer alone": "transformer alone",
        "transformer, nested_ner": "with nested_ner",
        "transformer, spancat": "with spancat, 1–10-grams",
    }
    return table(["", "µs per token"], [[title, f"{_per_token(system):,.0f}"] for system, title in titles.items()])


def _per_token(system: str) -> float:
    """Microseconds."""
    return 1e6 / _pipeline(system, "transformer")["predict blis"]


def _transformer_adds() -> str:
    added = _per_token("transformer, nested_ner") / _per_token("transformer alone") - 1
    return f"{100 * added:+.1f} %".replace("-", "−")


def _transformer_factor() -> str:
    """How much longer a transformer takes than a whole run of `annotate` with a tok2vec."""
    return f"{_engine('ray, 1 worker')['words_per_second'] * _per_token('transformer, nested_ner') / 1e6:.0f}"


def _shares(phase: str) -> str:
    """Of the speed of tok2vec alone."""
    shares = [
        _speed("nested_ner", corpus, cell) / _speed("tok2vec alone", corpus, cell)
        for corpus in _CORPORA
        for cell in _CELLS
        if cell.startswith(phase)
    ]
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"


def _times(systems: tuple[str, ...]) -> str:
    """How much faster than others, in all cells of both corpora."""
    times = [
        _speed("nested_ner", corpus, cell) / speed
        for corpus in _CORPORA
        for cell in _CELLS
        for system in systems
        if (speed := _speed(system, corpus, cell))
    ]
    return f"{min(times):.1f} to {max(times):.1f}"


def _labels(phase: str) -> str:
    """How much longer 200 labels take than 5, with BLIS and OpenBLAS."""
    few, many = (_pipeline("nested_ner", f"genia, {number} labels") for number in (5, 200))
    return " and ".join(f"{few[f'{phase} {blas}'] / many[f'{phase} {blas}']:.1f}" for blas in ("blis", "numpy"))


def _processes(shape: str, blas: str, n_process: int) -> float:
    """Words per second of real time."""
    return _processes_row(shape, blas, n_process)["words per second"]


def _processes_row(shape: str, blas: str, n_process: int) -> dict[str, float]:
    (row,) = (
        row
        for row in _result("processes")["rows"]
        if (row["shape"], row["blas"], row["n_process"]) == (shape, blas, n_process) and row["threads"] == 1
    )
    found: dict[str, float] = row
    return found


def _process_table() -> str:
    cells = [(shape, n_process) for shape in ("short texts", "long texts") for n_process in (1, 2)]
    rows = [
        [title, *(f"{_processes(shape, blas, n_process):,.0f}" for shape, n_process in cells)]
        for blas, title in (("blis", "BLIS"), ("numpy", "OpenBLAS"))
    ]
    head = ["20 words per text, 1 process", "2 processes", "2,000 words per text, 1 process", "2 processes"]
    return table(["", *head], rows)


def _two_processes() -> str:
    """How much faster two processes are than one, on long texts."""
    times = sorted(_processes("long texts", blas, 2) / _processes("long texts", blas, 1) for blas in ("blis", "numpy"))
    return f"{times[0]:.1f} to {times[1]:.1f}"


def _per_doc() -> str:
    """Milliseconds of CPU time that a second process costs for a text of 20 words."""
    one, two = (_processes_row("short texts", "numpy", n_process)["cpu per word"] for n_process in (1, 2))
    return f"{1000 * 20 * (two - one):.1f}"


def _engine(name: str) -> dict[str, float]:
    found: dict[str, float] = _result("annotate")["engines"][name]
    return found


def _engines() -> str:
    titles = {
        "local, 1 process": "1 process",
        "local, 2 processes": "2 processes",
        "ray, 1 worker": "Ray, 1 worker",
        "ray, 2 workers": "Ray, 2 workers",
    }
    ones = {"local": _engine("local, 1 process"), "ray": _engine("ray, 1 worker")}
    rows = []
    for name, title in titles.items():
        speed, start = (_engine(name)[key] for key in ("words_per_second", "start_seconds"))
        rows.append(
            [title, f"{speed:,.0f}", f"{speed / ones[name.split(',')[0]]['words_per_second']:.2f}", f"{start:.1f}"]
        )
    return table(["", "words per second", "times one", "seconds to start"], rows)


def _words_meanwhile() -> str:
    """What one core annotates while Ray starts, to two digits."""
    words = _engine("local, 1 process")["words_per_second"] * _engine("ray, 1 worker")["start_seconds"]
    return f"{float(f'{words:.2g}'):,.0f}"


def _billion() -> dict[str, str]:
    """Time and cost of a billion documents, by the assumptions in docs/how-to/cluster.md."""
    documents, words, cores, price = 1_000_000_000, 200, 512, 0.04
    one, two = (_engine(name)["words_per_second"] for name in ("ray, 1 worker", "ray, 2 workers"))
    hours = documents * words / (two / 2) / 3600
    return {
        "speed": f"{one:,.0f}",
        "efficiency": f"{100 * two / one / 2:.0f} %",
        "core-hours": f"{hours:,.0f}",
        "hours": f"{hours / cores:.1f}",
        "cost": f"${hours * price:.0f}",
    }


def _costs() -> str:
    decoders = ("flat", "c = 1", "c = 2", "c = 3", "cubic", "c = 1, multi_label")
    rows = []
    for row in _result("decoders")["costs"]:
        cells = [
            " / ".join(f"{1000 * row['seconds'][f'{name}: {what}']:.2f}" for what in ("marginals", "best"))
            for name in decoders
        ]
        rows.append([str(row["tokens"]), str(row["longest"]), *cells])
    return table(["sentences of", "spans of up to", *decoders], rows)


def _row(result: str, what: str) -> dict[str, float]:
    (row,) = (row for row in _result(result)["rows"] if row["what"] == what)
    found: dict[str, float] = row
    return found


def _torch_struct() -> str:
    rows = []
    for what, title in (("decode", "best analysis"), ("marginals", "log-partition and marginals")):
        for decoder in ("quadratic", "cubic"):
            row = _row("decoders", f"n = 300: {decoder} {what}")
            rows.append([f"{decoder}, {title}", f"{1000 * row['seconds']:.2f} ms", f"{row['times']:.0f}"])
    return table(["", "time", "times faster than torch-struct"], rows)


def _times_torch_struct() -> str:
    times = [
        _row("decoders", f"n = 300: {decoder} {what}")["times"]
        for decoder in ("quadratic", "cubic")
        for what in ("decode", "marginals")
    ]
    return f"{min(times):.0f} to {max(times):.0f}"


def _torch_layer() -> str:
    columns = ("log-partition", "loss", "entropy")
    rows = []
    for decoder in ("torch-struct", "flat", "quadratic", "cubic"):
        found = [_row("torch_layer", f"{decoder}: {what}") for what in columns]
        cells = [f"{1000 * row['seconds']:.2f} ms" for row in found]
        if decoder != "torch-struct":
            cells = [f"{cell} ({row['times']:.1f} ×)" for cell, row in zip(cells, found)]
        rows.append([decoder, *cells])
    return table(["", *columns], rows)


def _copies() -> str:
    return f"{1000 * _row('torch_layer', 'both copies, within memory')['seconds']:.2f} ms"


def _long_document() -> str:
    titles = {"ready": "ready, with the words of LitBank"}
    rows = [
        [titles.get(what, what), f"{megabytes:,}", f"{micros:.0f}" if micros else ""]
        for what, megabytes, micros in _result("long_document")["rows"]
        if ALONE not in what
    ]
    return table(["", "MB", "µs per token"], rows)


def _on_genia(system: str) -> str:
    train, predict = (_speed(system, "genia", f"{phase} numpy") for phase in ("train", "predict"))
    return f"{train:,.0f} / {predict:,.0f}"


FIGURES: dict[str, Callable[[], str]] = {
    # Whole pipelines
    "genia": lambda: _speeds("genia"),
    "litbank": lambda: _speeds("litbank"),
    "needs": _needs,
    "decoders": _decoders,
    "long-segments": _long_segments,
    "span-limit": _span_limit,
    "transformer": _transformer,
    "transformer-adds": _transformer_adds,
    "transformer-factor": _transformer_factor,
    "predict-shares": lambda: _shares("predict"),
    "train-shares": lambda: _shares("train"),
    "times-ner": lambda: _times(("ner",)),
    "times-spancat": lambda: _times((SPANCAT,)),
    "labels-predict": lambda: _labels("predict"),
    "labels-train": lambda: _labels("train"),
    "speeds": lambda: _on_genia("nested_ner"),
    "speeds-spancat": lambda: _on_genia(SPANCAT),
    "memory": lambda: f"{_pipeline('nested_ner', 'genia')['memory train']:,.0f} MB",
    "memory-spancat": lambda: f"{_pipeline(SPANCAT, 'genia')['memory train']:,.0f} MB",
    # Processes and whole collections
    "processes": _process_table,
    "two-processes": _two_processes,
    "per-doc": _per_doc,
    "engines": _engines,
    "one-core": lambda: f"{_engine('local, 1 process')['words_per_second']:,.0f}",
    "ray-start": lambda: f"{_engine('ray, 1 worker')['start_seconds']:.0f}",
    "ray-start-words": _words_meanwhile,
    **{
        f"billion-{name}": partial(lambda name: _billion()[name], name)
        for name in ("speed", "efficiency", "core-hours", "hours", "cost")
    },
    "long-document": _long_document,
    # Decoders
    "costs": _costs,
    "torch-struct": _torch_struct,
    "times-torch-struct": _times_torch_struct,
    "torch-layer": _torch_layer,
    "copies": _copies,
}


if __name__ == "__main__":
    main()
