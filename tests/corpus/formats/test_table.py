"""CSV and TSV with offsets."""

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, convert, write_docs

ADA = '"Ada of Bonn, sings"'


@pytest.mark.parametrize(
    "header, rows",
    [
        ("text,start,end,label", [f"{ADA},0,11,PER", f"{ADA},7,11,GPE"]),
        ("label,End,Begin,Sentence,id", [f"PER,11,0,{ADA},1", f"GPE,11,7,{ADA},2"]),
        (
            "id;text;start_char;end_char;entity_type;entity",
            [f"7;{ADA};0.0;11.0;PER;Ada of Bonn", "7;;7.0;11.0;GPE;Bonn"],
        ),
        ("doc id\ttext\tstart-offset\tend-offset\ttype", [f"7\t{ADA}\t0\t11\tPER", "\t\t7\t11\tGPE"]),
    ],
)
def test_columns_have_many_names(tmp_path, header, rows):
    docs, report = read(save(tmp_path / "a.csv", "\n".join(["\ufeff" + header, *rows, ""])))
    assert [shown(doc) for doc in docs] == [[("PER", "Ada of Bonn"), ("GPE", "Bonn")]]
    assert docs[0].text == "Ada of Bonn, sings"
    assert not report.lost


def test_documents_are_told_apart_by_text_and_document(tmp_path):
    text = "doc_id,text,start,end,label\na,Ada,0,3,PER\nb,Ada,0,3,ORG\nc,Bo,,,\na,,0,3,GPE\n"
    docs, _ = read(save(tmp_path / "a.csv", text))
    assert [shown(doc) for doc in docs] == [[("GPE", "Ada"), ("PER", "Ada")], [("ORG", "Ada")], []]


def test_line_breaks_of_windows_count_as_two(tmp_path):
    text = '"Ada\r\nof Bonn"'
    path = save(tmp_path / "a.csv", f"text,start,end,label\r\n{text},0,3,PER\r\n{text},8,12,GPE\r\n")
    docs, _ = read(path)
    assert [shown(doc) for doc in docs] == [[("PER", "Ada"), ("GPE", "Bonn")]]


def test_texts_of_several_lines(tmp_path):
    path = save(tmp_path / "a.csv", 'text,start,end,label\n"Ada\nsings",0,3,PER\nBo,0,3,PER\n')
    with pytest.raises(FormatError, match=r"a.csv, line 4: mention PER 0:3 is not in a text of 2 characters"):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert ([shown(doc) for doc in docs], report.bad.count) == ([[("PER", "Ada")], []], 1)


@pytest.mark.parametrize(
    "row, reason",
    [
        (
            "Ada sings,0,2,PER,Ada",
            "the mention is 'Ada', but the text at 0:2 is 'Ad'; the end must not be included: add 1",
        ),
        ("Ada sings,1,4,PER,Ada", "the mention is 'Ada', but the text at 1:4 is 'da '; correct the numbers"),
        ("Ada sings,x,4,PER,", "start is 'x', end is '4', label is 'PER'; expected whole numbers for start and end"),
        ("Ada sings,0,3,,", "start is '0', end is '3', label is ''; expected whole numbers for start and end"),
        ("Ada sings,0", "2 columns; expected at least 4, as in the first line"),
        (",0,3,PER,", "no text, and no line above that has it; fill in the column of the text"),
    ],
)
def test_bad_rows(tmp_path, row, reason):
    path = save(tmp_path / "a.csv", f"text,start,end,label,mention\n{row}\nBo,0,2,PER,Bo\n")
    with pytest.raises(FormatError, match=f"a.csv, line 2: {reason}"):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (shown(docs[-1]), report.bad.count) == ([("PER", "Bo")], 1)


def test_missing_columns_are_named(tmp_path):
    path = save(tmp_path / "a.csv", "text,first,last,label\nAda,0,3,PER\n")
    with pytest.raises(
        FormatError,
        match=r"a.csv, line 1: no column for start, end; found the columns text, first, last, label; "
        "name them text, start, end, label; if this is not csv, choose",
    ):
        convert(path, tmp_path / "out.spacy")


def test_long_texts(tmp_path):
    docs, _ = read(save(tmp_path / "a.csv", f"text,start,end,label\nAda{' sings' * 30_000},0,3,PER\n"))
    assert shown(docs[0]) == [("PER", "Ada")]


@pytest.mark.parametrize("name, delimiter", [("out.csv", ","), ("out.tsv", "\t")])
def test_rows_are_written(tmp_path, name, delimiter):
    docs = [make_doc([(["Ada", "of", "Bonn"], [(0, 3, "PER"), (2, 3, "GPE")]), (["Hm"], [])]), make_doc([(["Bo"], [])])]
    report = write_docs(docs, tmp_path / name, "csv")
    assert (tmp_path / name).read_text() == (
        "doc_id,text,start,end,label,mention\n1,Ada of Bonn Hm,0,11,PER,Ada of Bonn\n1,Ada of Bonn Hm,7,11,GPE,Bonn\n"
        "2,Bo,,,,\n"
    ).replace(",", delimiter)
    assert report.lost["sentences, in documents"].places == ["document 1"]
    with pytest.raises(FormatError, match="document 1: the text has a carriage return or a null character"):
        write_docs([make_doc([(["a\rb"], [])])], tmp_path / name, "csv")
