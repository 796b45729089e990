"""Every Python snippet of the README and the pages about decoders and component runs."""

import re
import warnings
from pathlib import Path

import pytest
from spacy.util import load_config_from_str

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(python|ini)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/decoders.md", "docs/component.md", "docs/recipes.md"])
def test_snippets_run(page, monkeypatch):
    """The snippets of a page are one program."""
    monkeypatch.chdir(ROOT)
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    names: dict = {}
    for language, text in blocks:
        if language == "ini":
            assert load_config_from_str(text)
            continue
        with warnings.catch_warnings():
            # What of the sample corpus is outside the default search space is told, and rightly so.
            warnings.filterwarnings("ignore", message="nested_ner cannot learn")
            exec(compile(text, page, "exec"), names)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), ROOT / "assets" / "README.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
