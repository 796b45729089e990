"""What a folder of shards was made from, so that a run goes on with its own shards, and never with those of another."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..pipeline.loading import find_pipeline
from .job import ERRORS, Job
from .pieces import InputFile, Piece
from .shards import SHARDS
from .storage import join, list_names, read_file, remove_file, remove_unfinished, write_file

# pyarrow, Spark and others that read a folder of Parquet pass over names with an underscore.
MANIFEST = "_manifest.json"
# What the numbers in shards depend on.
_PACKAGES = ("spacy-nested-ner", "spacy", "thinc", "numpy")
# Where something is does not change what is written.
_IRRELEVANT = ("model", "output", "gpu_id")


def make_manifest(job: Job, files: Iterable[InputFile], pieces: Sequence[Piece], shard_size: int) -> dict[str, Any]:
    """Everything that decides what is in the shards."""
    settings = {name: value for name, value in asdict(job).items() if name not in _IRRELEVANT}
    return {
        "version": 1,
        "shards": len(pieces),
        "settings": {"shard_size": shard_size, **settings},
        "model": _describe_model(job.model),
        "packages": {package: version(package) for package in _PACKAGES},
        "input": {name: {"size": stored.size, "version": stored.version} for name, stored in files},
    }


def begin(output: str, manifest: dict[str, Any], *, overwrite: bool = False) -> set[str]:
    """Prepare a folder for a run, or for going on with one.

    output (str): The folder.
    manifest (dict[str, Any]): What the run is made from.
    overwrite (bool): Whether to remove the files of another run.
    RETURNS (set[str]): The names of the finished shards.
    """
    names = set(list_names(output))
    if MANIFEST in names:
        different = differences(_read(output), manifest)
        if different and not overwrite:
            raise ValueError(
                f"{output} has shards of another run: {'; '.join(different)}. Name another folder, run the same "
                "command as before, or remove these shards with --overwrite"
            )
        if overwrite:
            _remove_run(output)
    elif any(not name.startswith(".") for name in names):
        raise ValueError(f"{output} has files, but none of this command; name a new or an empty folder")
    clean(output)
    write_file(join(output, MANIFEST), json.dumps(manifest, indent=1).encode() + b"\n")
    return _shards(output)


def clean(output: str) -> None:
    """Remove unfinished files, which are there after a process was killed."""
    remove_unfinished(output)
    remove_unfinished(join(output, ERRORS))


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What differs between two runs, for a message."""
    found = []
    if old.get("model", {}).get("digest") != new["model"]["digest"]:
        found.append(f"its model was {_name_model(old.get('model', {}))}, and now is {_name_model(new['model'])}")
    for part in ("settings", "packages"):
        before, now = old.get(part, {}), new[part]
        for name in sorted(before.keys() | now.keys()):
            if before.get(name) != now.get(name):
                found.append(f"{name} was {before.get(name)!r}, and now is {now.get(name)!r}")
    before, now = old.get("input", {}), new["input"]
    for names, what in [
        (before.keys() - now.keys(), "missing from the input"),
        (now.keys() - before.keys(), "new in the input"),
        ({name for name in before.keys() & now.keys() if before[name] != now[name]}, "changed since then"),
    ]:
        if names:
            first = min(names)
            others = f" and {len(names) - 1} other files are" if len(names) > 1 else " is"
            found.append(f"{first}{others} {what}")
    # Shards are numbered in the order of the input.
    moved = next((name for name, other in zip(now, before) if name != other), None)
    if moved is not None and before.keys() == now.keys():
        found.append(f"the files of the input are in another order, from {moved} on")
    for name in ("version", "shards"):
        if not found and old.get(name) != new[name]:
            found.append(f"{name} was {old.get(name)!r}, and now is {new[name]!r}")
    return found


def _read(output: str) -> dict[str, Any]:
    path = join(output, MANIFEST)
    try:
        content = json.loads(read_file(path))
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}); name another folder") from None
    if not isinstance(content, dict) or "settings" not in content:
        raise ValueError(f"{path} is not of this command; name another folder")
    return content


def _remove_run(output: str) -> None:
    for name in _shards(output):
        remove_file(join(output, name))
    errors = join(output, ERRORS)
    for name in list_names(errors):
        if name.startswith("_part-") and name.endswith(".jsonl"):
            remove_file(join(errors, name))
    remove_file(join(output, MANIFEST))


def _shards(output: str) -> set[str]:
    suffixes = tuple(f".{suffix}" for suffix in SHARDS)
    return {name for name in list_names(output) if name.startswith("part-") and name.endswith(suffixes)}


def _describe_model(model: str) -> dict[str, str]:
    """The name of a pipeline, and a digest of its files."""
    folder = find_pipeline(model)
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    name = f"{meta.get('lang', '')}_{meta.get('name', '')} {meta.get('version', '')}"
    return {"path": model, "name": name, "digest": _digest(folder)}


def _digest(folder: Path) -> str:
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = sha256()
            with path.open("rb") as file:
                while block := file.read(2**20):
                    content.update(block)
            digest.update(f"{path.relative_to(folder).as_posix()}\0{content.hexdigest()}\n".encode())
    return digest.hexdigest()


def _name_model(model: dict[str, str]) -> str:
    return f"{model.get('path')} ({model.get('name')}, digest {str(model.get('digest'))[:8]})"
