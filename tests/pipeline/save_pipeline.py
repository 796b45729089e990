"""Save a small pipeline with this version, which all later ones must load:

PYTHONPATH=tests python -m pipeline.save_pipeline
"""

import json
from pathlib import Path

import spacy
from nested_examples import SENTENCES, make_examples, plain, train
from spacy.tokenizer import Tokenizer

from spacy_nested_ner import __version__
from spacy_nested_ner.pipeline.saving import save_whole

SAVED = Path(__file__).parent / "saved"
"""One folder for every version, and for some days of the main branch before the first one."""

SETTINGS = {
    "threshold": 0.2,
    "temperature": 1.5,
    "decoder": "AutoDecoder",
    "model": {
        "hidden_width": 8,
        "subword_width": 8,
        "subword_rows": 60,
        "tok2vec": {
            "embed": {"width": 8, "rows": [60, 40, 40, 40]},
            "encode": {"width": 8, "depth": 1, "window_size": 1, "maxout_pieces": 2},
        },
    },
}


def results(nlp, docs):
    """What a pipeline finds, for JSON."""
    for doc in nlp.pipe(docs):
        group = doc.spans["sc"]
        scores = [round(float(score), 7) for score in group.attrs["scores"]]
        yield {
            "text": doc.text,
            "mentions": [[span.start, span.end, span.label_, score] for span, score in zip(group, scores)],
            "log_probability": round(group.attrs["log_probability"], 7),
            "entropy": round(group.attrs["entropy"], 7),
        }


def write_results(path, found):
    path.write_text(json.dumps(list(found), indent=1, ensure_ascii=False) + "\n", "utf-8")


def main():
    nlp = spacy.blank("en")
    nlp.tokenizer = Tokenizer(nlp.vocab)  # a small file
    nlp.add_pipe("nested_ner", config=SETTINGS)
    train(nlp, make_examples(nlp), steps=60)
    folder = SAVED / __version__
    save_whole(nlp).to_disk(folder)
    # The version of spaCy is not what is tested.
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    del meta["spacy_git_version"]
    meta["spacy_version"] = ">=3.8.2,<3.9.0"
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", "utf-8")
    write_results(folder / "expected.json", results(nlp, [plain(nlp, [sentence]) for sentence in SENTENCES]))


if __name__ == "__main__":
    main()
