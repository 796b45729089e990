"""Commands that are killed at random moments: what they were writing is the old or the new one, never half of it."""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import contextmanager
from pathlib import Path

import spacy
from nested_examples import save_corpus, trained

from spacy_nested_ner.corpus import convert
from spacy_nested_ner.corpus.files import visible_files

CONFIG = Path(__file__).parents[2] / "configs" / "tok2vec.cfg"
SMALL = [
    *("--components.tok2vec.model.encode.width", "32", "--components.tok2vec.model.encode.depth", "1"),
    *("--components.tok2vec.model.embed.rows", "[200,100,100,100]"),
    *("--components.nested_ner.model.hidden_width", "16", "--components.nested_ner.model.subword_rows", "500"),
    *("--training.max_steps", "12", "--training.eval_frequency", "1", "--training.optimizer.learn_rate", "0.01"),
]


class Worker:
    """The process that runs the commands.

    folder (Path): Where it logs.
    """

    def __init__(self, folder):
        self.log = folder / "stderr"
        here = Path(__file__).parents[1]
        environment = {
            **os.environ,
            "FAULTS_LOG": str(self.log),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONWARNINGS": "ignore",
            "PYTHONPATH": os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")]),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "faults.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=folder,
        )

    def run(self, *arguments, delay=None):
        """The status of a command, and how long it took. It is killed after `delay` seconds."""
        self._process.stdin.write(json.dumps({"arguments": list(map(str, arguments)), "delay": delay}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["status"], answer["seconds"]

    def must_run(self, *arguments):
        """Run a command that must not fail, and return how long it took."""
        status, seconds = self.run(*arguments)
        assert status == 0, f"{arguments} ended with {status}: {self.log.read_text()[-3000:]}"
        return seconds

    def close(self):
        self._process.communicate()


@contextmanager
def worker(folder):
    running = Worker(folder)
    try:
        yield running
    finally:
        running.close()


def tree(path):
    """The content of a file or folder, without what is hidden; None if there is nothing."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    if path.is_dir():
        return tuple((str(file.relative_to(path)), tree(file)) for file in visible_files(path))
    return None


def weights(pipeline):
    """The weights of the components of a saved pipeline."""
    return tuple(tree(pipeline / name / "model") for name in ("tok2vec", "nested_ner"))


class Writing(ABC):
    """A command that writes something. It is run once as it should be, and then killed as often as one likes."""

    name = ""
    goes_on = False  # where it was killed; otherwise it begins anew

    def __init__(self, folder, running):
        self.folder, self.running = folder / self.name, running
        self.folder.mkdir(parents=True)
        self.pipeline = folder / "model"
        if not self.pipeline.exists():
            trained(steps=8).to_disk(self.pipeline)
        self.make_input()
        self.seconds = running.must_run(*self.command())

    def kill(self, chance):
        """Kill the command after a random time, and check what is left.

        chance (random.Random): Where the time comes from.
        RETURNS (bool): Whether it was killed before it had ended.
        """
        status, seconds = self.running.run(*self.again(), delay=chance.uniform(0.0, 1.1 * self.seconds))
        assert status in (0, -9), f"ended with {status}: {self.running.log.read_text()[-3000:]}"
        self.check()
        if status == 0 and not self.goes_on:
            self.seconds = min(self.seconds, seconds)  # the machine may have been busy before
        return status == -9

    def again(self):
        """The command that is killed."""
        return self.command()

    @abstractmethod
    def make_input(self):
        """Write what the command reads."""

    @abstractmethod
    def command(self):
        """The command that writes."""

    @abstractmethod
    def check(self):
        """After a kill: everything is old or new."""


class Replacing(Writing):
    """A command that replaces files or folders, the old content of which is known."""

    targets: tuple[str, ...] = ()

    def __init__(self, folder, running):
        super().__init__(folder, running)
        self.new = [tree(self.folder / target) for target in self.targets]
        self.put_old()
        self.old = [tree(self.folder / target) for target in self.targets]
        self.visible = {path.name for path in self.folder.iterdir() if not path.name.startswith(".")}
        assert not set(self.old).intersection(self.new)

    @abstractmethod
    def put_old(self):
        """Put the old content in the place of the new one."""

    def check(self):
        for target, old, new in zip(self.targets, self.old, self.new):
            found = tree(self.folder / target)
            assert found in (old, new), f"half of {target}: {self.folder}"
        assert {path.name for path in self.folder.iterdir() if not path.name.startswith(".")} == self.visible
        self.put_old()

    def check_end(self):
        """After all kills: the command works, and removes what others have left."""
        self.running.must_run(*self.command())
        assert [tree(self.folder / target) for target in self.targets] == self.new
        assert {path.name for path in self.folder.iterdir()} == self.visible, "something hidden was left"


class Convert(Replacing):
    name, targets = "convert", ("out.jsonl",)

    def make_input(self):
        save_corpus(self.folder / "in.spacy", times=50)

    def command(self):
        return "nested-ner", "convert", self.folder / "in.spacy", self.folder / "out.jsonl"

    def put_old(self):
        (self.folder / "out.jsonl").write_text("old\n")


class Calibrate(Replacing):
    name, targets = "calibrate", ("model",)

    def make_input(self):
        save_corpus(self.folder / "dev.spacy")

    def command(self):
        data = self.folder / "dev.spacy"
        return "nested-ner", "calibrate", self.pipeline, data, "--output", self.folder / "model", "--force"

    def put_old(self):
        shutil.rmtree(self.folder / "model", ignore_errors=True)
        shutil.copytree(self.pipeline, self.folder / "model")


class Report(Replacing):
    name, targets = "report", ("pages/report.html", "pages/report.json")

    def make_input(self):
        save_corpus(self.folder / "dev.spacy")

    def command(self):
        return (
            *("nested-ner", "report", self.pipeline, self.folder / "dev.spacy"),
            *("--output", self.folder / "pages"),
        )

    def put_old(self):
        for target in self.targets:
            (self.folder / target).write_text("old\n")

    def check_end(self):
        super().check_end()
        assert {path.name for path in (self.folder / "pages").iterdir()} == {"report.html", "report.json"}


class Annotate(Writing):
    """It goes on where it was killed: what is there is right, and at the end everything is."""

    name, goes_on = "annotate", True

    def make_input(self):
        save_corpus(self.folder / "in.spacy", times=10)
        convert(self.folder / "in.spacy", self.folder / "in.jsonl", target_format="jsonl-text")

    def command(self, output="first"):
        return (
            *("nested-ner", "annotate", self.folder / "in.jsonl", self.folder / output),
            *("--model", self.pipeline, "--shard-size", "0.001"),
        )

    def again(self):
        return self.command("again")

    def check(self):
        whole = self._shards("first")
        assert len(whole) > 3
        written = self._shards("again")
        for name, content in written.items():
            assert content == whole[name], f"half of {name}"
        if written == whole:
            shutil.rmtree(self.folder / "again")

    def check_end(self):
        self.running.must_run(*self.command("again"))
        assert self._shards("again") == self._shards("first")
        assert not list((self.folder / "again").rglob(".writing-*"))

    def _shards(self, output):
        return {path.name: tree(path) for path in (self.folder / output).glob("part-*")}


class Train(Writing):
    """model-last is one of the checkpoints. model-best is a copy of one that spaCy makes file by file: half of it
    cannot be loaded. spaCy removes it before it copies model-last, so that model-last is the best one then."""

    name = "train"

    def make_input(self):
        save_corpus(self.folder / "train.spacy", times=3)
        save_corpus(self.folder / "dev.spacy")
        record = self.folder / "checkpoints"
        callback = json.dumps({"@callbacks": "faults.record_weights.v1", "record": str(record)})
        self.running.must_run(*self.command("recorded"), "--training.before_to_disk", callback)
        self.checkpoints = {tuple(json.loads(line)) for line in record.read_text().splitlines()}
        assert len(self.checkpoints) > 5

    def command(self, output="out"):
        return (
            *("train", CONFIG, "--output", self.folder / output),
            *("--paths.train", self.folder / "train.spacy", "--paths.dev", self.folder / "dev.spacy", *SMALL),
        )

    def check(self):
        best, last = self.folder / "out" / "model-best", self.folder / "out" / "model-last"
        if not last.exists():
            return
        if weights(last) not in self.checkpoints:  # a new training removes the old one, and model-best first
            assert not best.exists(), f"parts of two checkpoints: {self.folder}"
            assert not _loads(last), f"half of model-last is loaded: {self.folder}"
            return
        assert _loads(last)
        if best.exists() and _loads(best):
            assert weights(best) in self.checkpoints, f"half of model-best is loaded: {self.folder}"
            assert _names(best) == _names(last), f"model-best lacks files: {self.folder}"

    def check_end(self):
        self.running.must_run(*self.command())
        # The same weights as those of the first training, bit for bit.
        assert weights(self.folder / "out" / "model-last") == weights(self.folder / "recorded" / "model-last")
        assert {path.name for path in (self.folder / "out").iterdir()} == {"model-best", "model-last"}


def _loads(pipeline):
    try:
        spacy.load(pipeline)
    except (OSError, ValueError, EOFError):
        return False
    return True


def _names(pipeline):
    return sorted(path.relative_to(pipeline) for path in pipeline.rglob("*"))


COMMANDS = {kind.name: kind for kind in (Convert, Calibrate, Report, Annotate, Train)}


def kill_often(name, kills, folder, running, seed=0):
    """Start a command again and again, until it was killed so many times while it ran. Returns the number of starts."""
    chance = random.Random(seed)
    writing = COMMANDS[name](folder, running)
    starts = killed = 0
    while killed < kills:
        assert starts < 5 * kills, f"{name} ended before it was to be killed in {starts - killed} of {starts} runs"
        starts += 1
        killed += writing.kill(chance)
    writing.check_end()
    return starts
