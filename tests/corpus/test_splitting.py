"""Random splits, and those of a corpus."""

import pytest
from nested_documents import make_doc, read, save, settings, shown

from spacy_nested_ner.corpus import ConversionReport, FormatError, Record, Split, convert
from spacy_nested_ner.corpus.splitting import parse_shares


def write(path, texts):
    return save(path, "\n\n".join(texts) + "\n")


def parts_of(folder):
    names = [name for name in ("train", "dev", "test") if (folder / f"{name}.spacy").exists()]
    return [[doc.text.strip() for doc in read(folder / f"{name}.spacy")[0]] for name in names]


@pytest.mark.parametrize("shares, sizes", [("80/10/10", [16, 2, 2]), ("0.75/0.25", [15, 5]), ("85/15", [17, 3])])
def test_documents_are_shared_out(tmp_path, shares, sizes):
    texts = [f"[PER Ada{n}] sings ." for n in range(20)]
    source = write(tmp_path / "a.txt", texts)
    report = convert(source, tmp_path / "out", split=Split(parse_shares(shares)), settings=settings())
    parts = parts_of(tmp_path / "out")
    assert [len(part) for part in parts] == sizes
    assert sorted(text for part in parts for text in part) == sorted(f"Ada{n} sings ." for n in range(20))
    # In the order of the corpus, but not one stretch of it.
    numbers = [int(text.split()[0][3:]) for text in parts[0]]
    assert numbers == sorted(numbers) != list(range(numbers[0], numbers[0] + sizes[0]))
    assert [(part.documents, part.mentions) for part in report.parts.values()] == [(size, size) for size in sizes]
    assert f"  train    {sizes[0]} documents, {sizes[0]} mentions, 1 label" in str(report)
    assert not report.warnings


def test_the_seed_decides(tmp_path):
    source = write(tmp_path / "a.txt", [f"[PER Ada{n}] sings ." for n in range(20)])
    folders = [(tmp_path / name, seed) for name, seed in (("a", 0), ("b", 0), ("c", 1))]
    for folder, seed in folders:
        convert(source, folder, split=Split((0.5, 0.5), seed=seed), settings=settings())
    first, again, other = (parts_of(folder) for folder, _ in folders)
    assert first == again != other


def test_the_same_text_is_in_one_part(tmp_path):
    texts = ["[PER Ada] sings .", "[PER Bo] sings .", "[PER Ada]  sings .", "[PER Cy] sings .", "[PER Ada] sings ."] * 2
    source = write(tmp_path / "a.txt", texts)
    report = convert(source, tmp_path / "out", split=Split((0.6, 0.2, 0.2)), settings=settings())
    parts = parts_of(tmp_path / "out")
    assert sorted(map(len, parts)) == [2, 2, 6]
    assert [len(set(part)) for part in parts] == [1, 1, 1]
    assert "Split      7 documents with the text of an earlier one, put into the same part" in str(report)


def test_sentences_can_be_shared_out(tmp_path):
    source = save(tmp_path / "a.txt", "".join(f"[PER Ada of [GPE Bonn{n}]] sings .\n" for n in range(10)))
    with pytest.raises(
        FormatError,
        match=r"too few for these shares: with 1 document, dev is empty; use other shares, or split by sentence",
    ):
        convert(source, tmp_path / "out", split=Split((0.8, 0.2)), settings=settings())
    convert(source, tmp_path / "out", split=Split((0.8, 0.2), by="sentence"), settings=settings())
    assert [len(part) for part in parts_of(tmp_path / "out")] == [8, 2]
    docs, _ = read(tmp_path / "out" / "dev.spacy")
    assert [label for label, _ in shown(docs[0])] == ["PER", "GPE"]


def test_mentions_across_sentences_are_lost_if_these_are_divided(tmp_path):
    doc = make_doc([(["Ada"], [(0, 2, "PER")]), (["sings"], [])])
    report = ConversionReport()
    parts = Split((0.5, 0.5), by="sentence").divide([Record(doc, "here")], settings(), report, tmp_path)
    assert sorted(record.doc.text.strip() for part in parts for record in part) == ["Ada", "sings"]
    assert report.lost["mentions across a sentence boundary"].places == ["here: PER 'Ada sings'"]


def test_no_documents(tmp_path):
    with pytest.raises(FormatError, match=r"a.txt: no document found"):
        convert(save(tmp_path / "a.txt", "# nothing\n"), tmp_path / "out", split=Split((0.8, 0.2)), settings=settings())


def test_few_documents(tmp_path):
    for number, sizes in ((3, [1, 1, 1]), (4, [2, 1, 1]), (5, [3, 1, 1])):
        source = write(tmp_path / "a.txt", [f"[PER Ada{n}]" for n in range(number)])
        report = convert(source, tmp_path / str(number), split=Split((0.8, 0.1, 0.1)), settings=settings())
        assert [part.documents for part in report.parts.values()] == sizes
    source = write(tmp_path / "a.txt", [f"[PER Ada{n}]" for n in range(2)])
    with pytest.raises(
        FormatError, match="too few for these shares: with 2 documents, test is empty; use other shares"
    ):
        convert(source, tmp_path / "out", split=Split((0.8, 0.1, 0.1)), settings=settings())
    assert not list((tmp_path / "out").iterdir())
    source = write(tmp_path / "a.txt", ["[PER Ada]"] * 10)
    with pytest.raises(FormatError, match=r"with 10 documents \(1 different\), dev is empty"):
        convert(source, tmp_path / "out", split=Split((0.8, 0.1, 0.1)), settings=settings())


def test_labels_that_train_lacks_and_empty_parts_are_warned_about(tmp_path):
    texts = ["[PER Ada] sings .", "[GPE Bonn] [GPE Rhine] sleeps .", "No mention ."]
    source = write(tmp_path / "a.txt", texts)
    for seed in range(50):
        report = convert(source, tmp_path / "out", split=Split((0.34, 0.33, 0.33), seed), settings=settings())
        if parts_of(tmp_path / "out") == [["Ada sings ."], ["Bonn Rhine sleeps ."], ["No mention ."]]:
            break
    assert report.warnings == [
        "test has no mention",
        "labels that train does not have, so that nothing can learn them: GPE (2); try another seed",
    ]
    assert str(report).endswith("\nWarning: " + "\nWarning: ".join(report.warnings))


@pytest.mark.parametrize("text", ["80", "80/10", "50/50/50", "80/x", "100/0", "25/25/25/25", "-20/120", "nan/1", ""])
def test_bad_shares(text):
    with pytest.raises(ValueError, match="expected two or three shares that add up to 100, as in 80/20 or 80/10/10"):
        parse_shares(text)


def test_bad_splits():
    with pytest.raises(ValueError, match=r"shares are \(0.5, 0.4\); expected two"):
        Split((0.5, 0.4))
    with pytest.raises(ValueError, match="by is 'page'; expected one of document, sentence"):
        Split((0.5, 0.5), by="page")
