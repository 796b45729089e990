"""TSV 3 of INCEpTION and WebAnno."""

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, Settings, convert, write_docs

# As INCEpTION exports it: a placeholder for every layer, and a tab at the end of each line.
EXPORT = """\
#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue|coarseValue
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
#T_SP=webanno.custom.Quote|
#T_RL=webanno.custom.Kinship|kind|BT_de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity


#Text=Ms. Ada of Radio Bonn sings.
1-1\t0-3\tMs.\tNNP\tPROPN\t*[1]|*[2]\tPER[1]|TITLE\\_X[2]\t*\t_\t_\t
1-2\t4-7\tAda\tNNP\tPROPN\thttp://example.org/Q7[1]\tPER[1]\t*\tsister\t1-1[1_0]\t
1-3\t8-10\tof\tIN\tADP\t_\t_\t_\t_\t_\t
1-4\t11-16\tRadio\tNNP\tPROPN\t*[3]\tORG[3]\t_\t_\t_\t
1-5\t17-21\tBonn\tNNP\tPROPN\t*[3]|*[4]\tORG[3]|LOC[4]\t_\t_\t_\t
1-6\t22-27\tsings\tVBZ\tVERB\t_\t_\t_\t_\t_\t
1-7\t27-28\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t

#Sentence.id=second
#Text=Bo sleeps.
2-1\t29-31\tBo\tNNP\tPROPN\t*\tPER\t_\t_\t_\t
2-2\t32-38\tsleeps\tVBZ\tVERB\t*\t*\t_\t_\t_\t
2-3\t38-39\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t
"""
PARTS = """\
#FORMAT=WebAnno TSV 3.2
#T_SP=webanno.custom.Part|label


#Text=\U0001f600The Bonn-based choir
1-1\t0-5\t\U0001f600The\t_\t
1-1.1\t2-5\tThe\tART\t
1-2\t6-16\tBonn-based\t_\t
1-2.1\t6-10\tBonn\tLOC\t
1-3\t17-22\tchoir\tORG\t
"""


def test_stacked_mentions_of_one_layer(tmp_path):
    docs, report = read(save(tmp_path / "ada.tsv", EXPORT))
    assert [doc.text for doc in docs] == ["Ms. Ada of Radio Bonn sings. Bo sleeps."]
    assert [sent.start for sent in docs[0].sents] == [0, 7]
    assert shown(docs[0]) == [
        ("PER", "Ms. Ada"),
        ("TITLE_X", "Ms."),
        ("ORG", "Radio Bonn"),
        ("LOC", "Bonn"),
        ("PER", "Bo"),
    ]
    assert report.notes == ["Layer      NamedEntity, value"]
    assert set(report.lost) == {
        "the layer POS",
        "the layer Quote",
        "the layer Kinship",
        "annotations without a value",
    }


@pytest.mark.parametrize(
    "layer, mentions",
    [
        ("POS", ("NNP", "Ms.")),
        ("POS.coarseValue", ("PROPN", "Ms.")),
        ("webanno.custom.Quote", ("Quote", "Ms.")),
    ],
)
def test_another_layer(tmp_path, layer, mentions):
    docs, _ = read(save(tmp_path / "ada.tsv", EXPORT), layer=layer)
    assert shown(docs[0])[0] == mentions


def test_unknown_layers(tmp_path):
    path = save(tmp_path / "ada.tsv", EXPORT)
    with pytest.raises(FormatError, match="no mention found in 1 document") as caught:
        convert(path, tmp_path / "out.spacy", settings=Settings(layer="Name"))
    assert (
        f"documents without the layer 'Name': 1\n    {path}: choose one with --layer; found: POS with PosValue, "
        "coarseValue; NamedEntity with identifier, value; Quote with no feature"
    ) in str(caught.value)
    path = save(tmp_path / "none.tsv", "#FORMAT=WebAnno TSV 3.3\n\n\n#Text=Ada\n1-1\t0-3\tAda\t\n")
    with pytest.raises(FormatError, match="no mention found in 1 document") as caught:
        convert(path, tmp_path / "out.spacy")
    assert f"documents without a layer of mentions: 1\n    {path}: found no layer of spans at all" in str(caught.value)


def test_a_document_of_a_folder_may_lack_the_layer(tmp_path):
    """Only layers with annotations are exported."""
    folder = tmp_path / "export"
    folder.mkdir()
    save(folder / "ada.tsv", EXPORT)
    save(folder / "none.tsv", "#FORMAT=WebAnno TSV 3.3\n\n\n#Text=Ada\n1-1\t0-3\tAda\t\n")
    report = convert(folder, tmp_path / "out.spacy")
    assert (report.documents, report.mentions) == (2, 5)
    assert report.lost["documents without a layer of mentions"].count == 1


@pytest.mark.parametrize("layers", ["a.PdfPage|height|width", "a.Item|DCT|Item"])
def test_the_likeliest_layer_and_feature(tmp_path, layers):
    other = "#T_SP=webanno.custom.Item|kind\n" if "Page" in layers else ""
    values = "1\t2\tPER" if other else "x\tPER"
    path = save(
        tmp_path / "a.tsv", f"#FORMAT=WebAnno TSV 3.3\n#T_SP={layers}\n{other}\n#Text=Ada\n1-1\t0-3\tAda\t{values}\t\n"
    )
    assert shown(read(path)[0][0]) == [("PER", "Ada")]


def test_parts_of_tokens(tmp_path):
    path = save(tmp_path / "parts.tsv", PARTS)
    with pytest.raises(FormatError, match=r"line 7: mention ART 'The' .* begins or ends inside a token"):
        read(path)
    docs, _ = read(path, misaligned="split")
    assert shown(docs[0]) == [("ART", "The"), ("LOC", "Bonn"), ("ORG", "choir")]
    assert [token.text for token in docs[0]] == ["\U0001f600", "The", "Bonn", "-based", "choir"]


def test_offsets_may_begin_again_in_each_sentence(tmp_path):
    text = PARTS.split("#Text")[0] + "#Text=Ada\n1-1\t0-3\tAda\tPER\t\n\n#Text=Bo\n2-1\t0-2\tBo\tPER\t\n"
    docs, _ = read(save(tmp_path / "a.tsv", text))
    assert docs[0].text == "Ada Bo"


@pytest.mark.parametrize(
    "line, reason",
    [
        ("1-2\t4\tx\t_", "line 5: '1-2.*'; expected 1-1<tab>0-5<tab>token<tab> and a value in each of 1 columns"),
        ("1-2\t4-5\tx", "line 5: '1-2.*'; expected 1-1<tab>0-5<tab>token<tab> and a value in each of 1 columns"),
        ("1-1.1\t2-1\tx\tPER", "line 5: the part is not in the token above; expected characters inside it"),
    ],
)
def test_bad_lines(tmp_path, line, reason):
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Part|label\n\n1-1\t0-3\tAda\tPER\t\n"
    path = save(tmp_path / "a.tsv", f"{head}{line}\n")
    if line.endswith("\tx"):
        path.write_text(path.read_text().replace("|label", "|identifier|label").replace("PER\t", "_\tPER\t"))
        reason = reason.replace("1 columns", "2 columns")
    with pytest.raises(FormatError, match=reason):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (docs, report.bad.count) == ([], 1)


def test_other_files_are_not_webanno(tmp_path):
    with pytest.raises(FormatError, match=r"a.tsv, line 1: not WebAnno TSV 3; expected #FORMAT=WebAnno TSV 3.3"):
        read(save(tmp_path / "a.tsv", "Ada\tB-PER\n"), "webanno")


def test_one_file_is_written(tmp_path):
    first = make_doc([(["Ada", "of", "B|nn"], [(0, 3, "PER"), (2, 3, "L_C")]), (["Bo"], [(0, 1, "A->B")])])
    report = write_docs([first, make_doc([(["C\\"], [])])], tmp_path / "out.tsv", "webanno")
    assert (tmp_path / "out.tsv").read_text() == (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value\n\n"
        "\n#Text=Ada of B|nn\n1-1\t0-3\tAda\tPER[1]\t\n1-2\t4-6\tof\tPER[1]\t\n1-3\t7-11\tB|nn\tPER[1]|L\\_C[2]\t\n"
        "\n#Text=Bo\n2-1\t12-14\tBo\tA\\->B\t\n"
        "\n#Text=C\\\\\n3-1\t15-17\tC\\\t_\t\n"
    )
    assert report.lost["which sentences form a document"].places == ["document 2"]
    with pytest.raises(FormatError, match=r"document 1: 'a\\tb' contains a tab or a line break; write jsonl or spacy"):
        write_docs([make_doc([(["a\tb"], [])])], tmp_path / "bad.tsv", "webanno")
