"""What is fuzzed, and the odd cases that were found. They are files, and every test run checks them again."""

import json
from pathlib import Path

from fuzz import decoding, learning, reading

KEPT = Path(__file__).parent / "kept"
TARGETS = {"decoding": decoding, "learning": learning, "reading": reading}


def save(target, case, name):
    """Keep a case. Numbers are written so that they can be read again without loss."""
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{target}_{name}.json"
    path.write_text(json.dumps(case._asdict(), indent=None) + "\n")
    return path


def load(path):
    """The module that a kept case belongs to, and the case."""
    target = TARGETS[path.stem.partition("_")[0]]
    return target, target.Case(**json.loads(path.read_text()))
