"""Layered BIO columns, in the styles of LitBank and GermEval 2014."""

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs

# LitBank ends every line with a tab.
LITBANK = """\
the\tO\tO\tO\t
Lord\tB-PER\tB-PER\tO\t
Chancellor\tO\tI-PER\tO\t
of\tO\tO\tO\t
#\tO\tO\tO\t
1\tO\tO\tO\t

Bonn\tB-GPE\tO\tO\t
"""

GERMEVAL = """\
#\tn-tv.de\t2005-01-01
1\tTroia\tB-OTH\tB-LOC
2\t-\tI-OTH\tO
3\tTraum\tI-OTH\tO

# http://example.org [2009-10-17]
1\tO\tB-PER\tO
2\tBonn\tB-LOC\tO
"""


def test_litbank(tmp_path):
    docs, report = read(save(tmp_path / "corpus.tsv", LITBANK))
    assert len(docs) == 1
    assert [token.text for token in docs[0]] == ["the", "Lord", "Chancellor", "of", "#", "1", "Bonn"]
    assert [sent.start for sent in docs[0].sents] == [0, 6]
    assert shown(docs[0]) == [("PER", "Lord Chancellor"), ("PER", "Lord"), ("GPE", "Bonn")]
    assert (report.sentences, report.mentions, report.nested, report.depth) == (2, 3, 1, 2)


def test_germeval_is_recognized_by_its_numbers_and_has_one_document_per_source(tmp_path):
    docs, _ = read(save(tmp_path / "corpus.tsv", GERMEVAL))
    assert [[token.text for token in doc] for doc in docs] == [["Troia", "-", "Traum"], ["O", "Bonn"]]
    assert shown(docs[0]) == [("OTH", "Troia - Traum"), ("LOC", "Troia")]
    assert shown(docs[1]) == [("PER", "O"), ("LOC", "Bonn")]


def test_spaces_instead_of_tabs(tmp_path):
    docs, _ = read(save(tmp_path / "corpus.tsv", "# a comment\n\n1 Troia B-OTH B-LOC\n2 lebt O O\n"))
    assert shown(docs[0]) == [("LOC", "Troia"), ("OTH", "Troia")]


def test_the_same_mention_in_two_columns_is_one(tmp_path):
    docs, report = read(save(tmp_path / "corpus.tsv", "Bonn\tB-GPE\tB-GPE\n"))
    assert shown(docs[0]) == [("GPE", "Bonn")]
    assert report.lost["repeated mentions (same span and label)"].count == 1


@pytest.mark.parametrize(
    "line, reason",
    [
        ("x\tI-PER\tO", "I-PER follows O in its column; a mention begins with B-PER"),
        ("x\tI-PER\tI-GPE", "I-PER follows O in its column; a mention begins with B-PER"),
        ("x\tO\tI-ORG", "I-ORG follows B-GPE in its column; a mention begins with B-ORG"),
        ("x\tO\tB-", "tag 'B-': expected O, B-LABEL or I-LABEL"),
        ("x\tPER\tO", "tag 'PER': expected O, B-LABEL or I-LABEL"),
        ("x\tO", "number of tags is 1; expected 2, as in the line above"),
        ("x", "'x' has no tag; expected a word and one tag per layer, with tabs between them"),
        ("#x\tPER\tO", "tag 'PER': expected O, B-LABEL or I-LABEL"),
    ],
)
def test_bad_lines(tmp_path, line, reason):
    path = save(tmp_path / "corpus.tsv", f"Good\tO\n\na\tO\tB-GPE\n{line}\n\nGood\tO\n")
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == f"{path}, line 4: {reason}"
    docs, report = read(path, skip_bad=True)
    assert [token.text for token in docs[0]] == ["Good", "Good"]
    assert report.bad.count == 1


def test_a_mention_cannot_begin_with_i(tmp_path):
    with pytest.raises(FormatError, match="line 1: I-PER follows nothing in its column; a mention begins with B-PER"):
        read(save(tmp_path / "corpus.tsv", "Ada\tI-PER\tO\n"))


def test_as_many_columns_as_needed_are_written_and_at_least_two(tmp_path):
    flat = make_doc([(["a", "b"], [(0, 2, "PER")])])
    write_docs([flat], tmp_path / "flat.tsv")
    assert (tmp_path / "flat.tsv").read_text() == "# document 1\na\tB-PER\tO\nb\tI-PER\tO\n\n"
    deep = make_doc([(["c"], [(0, 1, "A"), (0, 1, "B"), (0, 1, "C")])])
    write_docs([flat, deep], tmp_path / "deep.tsv")
    assert (tmp_path / "deep.tsv").read_text() == (
        "# document 1\na\tB-PER\tO\tO\nb\tI-PER\tO\tO\n\n# document 2\nc\tB-A\tB-B\tB-C\n\n"
    )


def test_words_of_only_whitespace_are_left_out_and_reported(tmp_path):
    doc = make_doc([(["a", "\n", "b"], [(0, 3, "PER"), (1, 2, "ORG"), (1, 3, "GPE")]), ([" "], [])])
    report = write_docs([doc], tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == "# document 1\na\tB-PER\tO\nb\tI-PER\tB-GPE\n\n"
    assert {what: loss.count for what, loss in report.lost.items()} == {
        "words of only whitespace": 2,
        "mentions of only whitespace": 1,
    }


def test_words_with_tabs_cannot_be_written(tmp_path):
    doc = make_doc([(["a\tb"], [])])
    with pytest.raises(
        FormatError, match=r"document 1: 'a\\tb' contains a tab or a line break; write bracket, jsonl or spacy instead"
    ):
        write_docs([doc], tmp_path / "out.tsv")
    assert not list(tmp_path.iterdir())


def test_a_line_without_a_word(tmp_path):
    path = save(tmp_path / "corpus.tsv", "Ada\tB-PER\n\nin\tO\n\tO\n\nBonn\tB-GPE\n")
    with pytest.raises(
        FormatError, match=r"corpus.tsv, line 4: '\\tO' has no word; expected a word and one tag per layer"
    ):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (shown(docs[0]), report.bad.count) == ([("PER", "Ada"), ("GPE", "Bonn")], 1)


# Made up in the style of the original files, in which B- only separates neighbors.
CONLL_2003 = """\
-DOCSTART- -X- O O

Radio NNP I-NP I-ORG
Bonn NNP I-NP I-ORG
met VBD I-VP O
Ada NNP I-NP I-PER
Bo NNP B-NP B-PER

-DOCSTART- (2 weather) -X- -X- O
It PRP B-NP O
rained VBD B-VP O
in IN B-PP O
Bonn NNP B-NP I-LOC
"""


def test_conll_2003(tmp_path):
    docs, report = read(save(tmp_path / "eng.train", CONLL_2003))
    assert [shown(doc) for doc in docs] == [[("ORG", "Radio Bonn"), ("PER", "Ada"), ("PER", "Bo")], [("LOC", "Bonn")]]
    assert [[token.text for token in doc][:3] for doc in docs] == [["Radio", "Bonn", "met"], ["It", "rained", "in"]]
    assert report.notes == ["Tags       IOB1"]
    assert {what: loss.count for what, loss in report.lost.items()} == {
        "columns between the words and the tags (2, 3)": 2
    }


def test_conll_2003_with_bio_tags(tmp_path):
    text = "Ada NNP B-NP B-PER\nLovelace NNP I-NP I-PER\nsang VBD B-VP O\n"
    docs, report = read(save(tmp_path / "valid.txt", text))
    assert (shown(docs[0]), report.notes) == ([("PER", "Ada Lovelace")], ["Tags       BIO"])
    with pytest.raises(FormatError, match="line 3: I-LOC follows I-PER in its column; a mention begins with B-LOC"):
        read(save(tmp_path / "valid.txt", text.replace("B-VP O", "B-VP I-LOC")))


def test_columns_without_a_value(tmp_path):
    docs, _ = read(save(tmp_path / "multi.conll", "# id 1\nAda _ _ B-PER\nsings _ _ O\n"))
    assert shown(docs[0]) == [("PER", "Ada")]


@pytest.mark.parametrize("scheme, last, single", [("BIOES", "E", "S"), ("BILOU", "L", "U")])
def test_schemes_that_mark_the_last_word(tmp_path, scheme, last, single):
    rows = [
        f"Radio\tB-ORG\t{single}-X",
        "of\tI-ORG\tO",
        f"Bonn\t{last}-ORG\t{single}-LOC",
        "and\tO\tO",
        f"Ada\t{single}-PER\tO",
    ]
    docs, report = read(save(tmp_path / "a.tsv", "\n".join(rows)))
    assert shown(docs[0]) == [("ORG", "Radio of Bonn"), ("X", "Radio"), ("LOC", "Bonn"), ("PER", "Ada")]
    assert report.notes == [f"Tags       {scheme}"]
    path = save(tmp_path / "b.tsv", f"Ada\t{single}-PER\n\nBonn\tB-LOC\nis\tO\n")
    reason = (
        f"b.tsv, line 3: the mention LOC does not end with {last}-LOC, as in {scheme}; a single word has {single}-LOC"
    )
    with pytest.raises(FormatError, match=reason):
        read(path)
    assert read(path, skip_bad=True)[1].bad.count == 1
    with pytest.raises(
        FormatError, match=f"line 2: {last}-LOC follows {single}-PER in its column; a mention begins with"
    ):
        read(save(tmp_path / "c.tsv", f"Ada\t{single}-PER\nBonn\t{last}-LOC\n"))


def test_a_file_has_one_scheme(tmp_path):
    path = save(tmp_path / "a.tsv", "Ada\tS-PER\n\nBonn\tU-LOC\n")
    with pytest.raises(
        FormatError,
        match=r"a.tsv, line 1: S-PER is a tag of BIOES, but U-LOC in line 3 is one of BILOU; use one scheme",
    ):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (docs, report.bad.count) == ([], 1)


@pytest.mark.parametrize(
    "tags, mentions",
    [
        # All layers on every line.
        (["B-ORG|O", "I-ORG|O", "I-ORG|B-LOC", "O|O"], [("ORG", "a b c"), ("LOC", "c")]),
        # Only those that there are, the outermost first.
        (["B-ORG", "I-ORG|B-LOC", "I-ORG|I-LOC", "I-ORG|B-LOC"], [("ORG", "a b c d"), ("LOC", "b c"), ("LOC", "d")]),
        (["B-A|B-B|B-C", "I-A|I-B", "I-A", "O"], [("A", "a b c"), ("B", "a b"), ("C", "a")]),
        # The same label twice: the outer one goes on.
        (["B-PER|B-PER", "I-PER", "O", "O"], [("PER", "a b"), ("PER", "a")]),
        # Mentions that cross.
        (["B-A", "I-A|B-B", "I-B", "O"], [("A", "a b"), ("B", "b c")]),
        (
            ["B-ORG", "I-ORG|U-LOC", "L-ORG", "U-PER|U-ORG"],
            [("ORG", "a b c"), ("LOC", "b"), ("ORG", "d"), ("PER", "d")],
        ),
        # This one is in a label.
        (["B-A|C", "I-A|C", "O", "B-A|B-B"], [("A|C", "a b"), ("A", "d"), ("B", "d")]),
    ],
)
def test_joined_layers(tmp_path, tags, mentions):
    rows = [f"{word}\t{tag}\n" for word, tag in zip("abcd", tags)]
    docs, report = read(save(tmp_path / "a.tsv", "".join(rows)))
    assert shown(docs[0]) == mentions
    assert report.notes[0].endswith(", layers joined by |")


def test_labels_that_look_like_two_tags_cannot_be_written(tmp_path):
    with pytest.raises(FormatError, match=r"label 'A\|B-C' looks like two tags; write bracket, jsonl or spacy instead"):
        write_docs([make_doc([(["a"], [(0, 1, "A|B-C")])])], tmp_path / "out.tsv")


def test_too_many_layers_cannot_be_written(tmp_path):
    deep = make_doc([(["a"], [(0, 1, f"L{n:04}") for n in range(1001)])])
    with pytest.raises(FormatError, match="mentions are nested more than 1,000 deep; write bracket, jsonl or spacy"):
        write_docs([deep], tmp_path / "out.tsv")


def test_a_mention_is_in_the_first_free_column(tmp_path):
    doc = make_doc([(list("abcde"), [(0, 2, "A"), (1, 3, "B"), (2, 4, "C"), (2, 3, "D"), (3, 5, "E")])])
    write_docs([doc], tmp_path / "out.tsv")
    columns = [line.split("\t")[1:] for line in (tmp_path / "out.tsv").read_text().splitlines()[1:-1]]
    assert columns == [
        ["B-A", "O", "O"],
        ["I-A", "B-B", "O"],
        ["B-C", "I-B", "B-D"],
        ["I-C", "B-E", "O"],
        ["O", "I-E", "O"],
    ]
