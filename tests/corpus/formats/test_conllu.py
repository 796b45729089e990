"""CoNLL-U with mentions."""

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs


def row(number, form, misc="_"):
    return f"{number}\t{form}\t_\tX\t_\t_\t_\t_\t_\t{misc}\n"


# GUM since its ninth version: closing brackets have the group only.
GUM = (
    "# newdoc id = GUM_made_up\n"
    "# global.Entity = GRP-etype-infstat-centering-minspan-link-identity\n"
    "# sent_id = GUM_made_up-1\n# text = Ada's band doesn't play in Bonn.\n"
    + row(1, "Ada", "Entity=(2-organization-new-cf1-3-coref(1-person-new-cf2-1-ana-Ada_Lovelace|SpaceAfter=No")
    + row(2, "'s", "Entity=1)")
    + row(3, "band", "Discourse=joint:3->1|Entity=2)")
    + row("4-5", "doesn't")
    + row(4, "does")
    + row(5, "n't")
    + row(6, "play")
    + row("6.1", "ghost")
    + row(7, "in")
    + row(8, "Bonn", "Entity=(3-place-acc:inf-cf3-1-sgl)|SpaceAfter=No")
    + row(9, ".")
    + "\n# text = They rest.\n"
    + row(1, "They", "Entity=(2-organization-giv:act-cf1-1-ana)")
    + row(2, "rest", "SpaceAfter=No")
    + row(3, ".")
    + "\n# newdoc id = GUM_other\n"
    + row(1, "Bo", "Entity=(1-person-new)")
)


def test_gum(tmp_path):
    docs, report = read(save(tmp_path / "gum.conllu", GUM))
    assert [doc.text.strip() for doc in docs] == ["Ada's band doesn't play in Bonn. They rest.", "Bo"]
    assert shown(docs[0]) == [
        ("organization", "Ada's band"),
        ("person", "Ada's"),
        ("place", "Bonn"),
        ("organization", "They"),
    ]
    assert [sent.start for sent in docs[0].sents] == [0, 9]
    assert (report.documents, report.nested) == (2, 1)


@pytest.mark.parametrize(
    "head, values",
    [
        ("", ["(organization-6(person-1)", "organization-6)"]),
        ("", ["(organization-6(person-1-Ada_L.)", "organization-6)"]),
        ("# global.Entity = entity-GRP-infstat-MIN\n", ["(organization-6-new-1,2(person-1-new-1)", "6)"]),
        ("# global.Entity = eid-etype-head-other\n", ["(e6-organization-2-(e1-person-1-)", "e6)"]),
        ("# global.Entity = etype-identity\n", ["(organization(person-Ada_L.)", "organization)"]),
    ],
)
def test_styles_of_brackets(tmp_path, head, values):
    rows = "".join(row(n, form, f"Entity={value}") for n, form, value in zip((1, 2), ("her", "band"), values))
    docs, _ = read(save(tmp_path / "a.conllu", head + rows))
    assert shown(docs[0]) == [("organization", "her band"), ("person", "her")]


def test_what_is_not_kept(tmp_path):
    head = "# global.Entity = eid-etype\n"
    rows = row(1, "a", "Entity=(e1[1/2]-person(e2-)(e3-pl%2Dace)") + row(2, "b", "Entity=e1[1/2])")
    docs, report = read(save(tmp_path / "a.conllu", head + rows))
    assert shown(docs[0]) == [("pl-ace", "a")]
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "mentions in several parts": [f"{tmp_path / 'a.conllu'}, line 1: e1[1/2]-person"],
        "mentions without a type": [f"{tmp_path / 'a.conllu'}, line 1: e2-"],
    }


@pytest.mark.parametrize(
    "text, reason",
    [
        (row(1, "a", "Entity=(x-1"), "the mention x-1 that begins at word 1 is not closed in its sentence"),
        (row(1, "a", "Entity=x-1)"), r"'Entity=x-1\)' at word 1 closes 'x-1', which is not open"),
        (row(1, "a", "Entity=x"), r"'Entity=x' at word 1; expected brackets, as in \(person-1\(place-2\)"),
        ("1\ta\n", r"'1\\ta' in line 1; expected ten columns with tabs between them"),
        ("1\ta\t_\tX\t_\t_\tx\t_\t_\t_\n", "not CoNLL-U: Failed parsing field 'head'"),
        (f"1\ta\t_\tX\t_\t_\t{'1' * 5000}\t_\t_\t_\n", "not CoNLL-U: .*digits"),
        (f"{'1' * 5000}{row('', 'a', 'Entity=(x-1)')}", "'1+.… in line 1; expected ten columns"),
        (row(1, "a", "Entity=" + "(" * 20_000), r"'Entity=\(+… at word 1; expected brackets"),
    ],
)
def test_bad_sentences(tmp_path, text, reason):
    path = save(tmp_path / "a.conllu", f"{text}\n{row(1, 'Ada', 'Entity=(person-1)')}")
    with pytest.raises(FormatError, match=f"a.conllu, line 1: {reason}"):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert ([shown(doc) for doc in docs], report.bad.count) == ([[("person", "Ada")]], 1)


def test_mentions_are_written(tmp_path):
    doc = make_doc([(["Ada", "of", "Bonn"], [(0, 3, "PER"), (1, 3, "X-Y"), (2, 3, "GPE")])], spaces=[True, True, False])
    write_docs([doc], tmp_path / "out.conllu")
    blank = "\t_\t_\t_\t_\t_\t_\t_\t"
    assert (tmp_path / "out.conllu").read_text() == (
        "# newdoc id = document-1\n# global.Entity = eid-etype\n# text = Ada of Bonn\n"
        f"1\tAda{blank}Entity=(e1-PER\n2\tof{blank}Entity=(e2-X%2DY\n"
        f"3\tBonn{blank}Entity=(e3-GPE)e2)e1)|SpaceAfter=No\n\n"
    )
    with pytest.raises(
        FormatError, match="document 1: 'a  b' contains whitespace; write bracket, jsonl or spacy instead"
    ):
        write_docs([make_doc([(["a  b"], [])])], tmp_path / "bad.conllu")


def test_empty_nodes_are_no_words(tmp_path):
    head = "# global.Entity = eid-etype\n"
    rows = [
        row("1.1", "_", "Entity=(e1-person"),
        row(2, "Ada", "Entity=(e2-person"),
        row("2.1", "_", "Entity=(e3-place)(e4-)e2)"),
        row(3, "sings", "Entity=e1)"),
    ]
    docs, report = read(save(tmp_path / "a.conllu", head + row(1, "Now") + "".join(rows)))
    assert shown(docs[0]) == [("person", "Ada sings"), ("person", "Ada")]
    assert {what: loss.count for what, loss in report.lost.items()} == {
        "mentions of empty nodes only": 1,
        "mentions without a type": 1,
    }


def test_a_token_of_a_trillion_words_needs_no_memory(tmp_path):
    path = save(tmp_path / "a.conllu", row("1-999999999999", "Ada") + row(1, "Ada", "Entity=(person-1)"))
    assert shown(read(path)[0][0]) == [("person", "Ada")]
