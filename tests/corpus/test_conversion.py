"""Choosing formats and files, and writing all or nothing."""

import os

import pytest
from nested_documents import make_doc, read, save, settings, shown
from spacy.tokens import DocBin, Span

from spacy_nested_ner.corpus import FormatError, conversion, convert, read_docs, read_records, write_docs
from spacy_nested_ner.corpus.texts import input_docs


def write(path, text="[PER Ada] sings .\n"):
    return save(path, text)


BRACKET = "[PER Ada] sings .\n"
BIO = "Ada\tB-PER\tO\nsings\tO\tO\n"
CONLL_2003 = "-DOCSTART- -X- O O\n\nAda NNP I-NP I-PER\nsings VBZ I-VP O\n"
WEBANNO = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Part|value\n\n\n#Text=Ada\n1-1\t0-3\tAda\tPER\t\n"
CONLLU = "# newdoc id = a\n1\tAda\tAda\tPROPN\tNNP\t_\t0\troot\t_\tEntity=(1-person)\n"
PUBTATOR = "12|t|Ada sings\n12|a|\n12\t0\t3\tAda\tPER\n"
TABLE = "text;start;end;label\nAda sings;0;3;PER\n"
GENIA = '<set><article><sentence><cons sem="G#DNA_x">IL-2</cons> gene</sentence></article></set>'
XML = "<doc><PER>Ada</PER> sings</doc>"
LABEL_STUDIO = """[{"id": 1, "data": {"text": "Ada"}, "annotations": [{"result": [{"type": "labels",
"from_name": "label", "to_name": "text", "value": {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}}]}]}]"""
JSONL = '{"tokens": ["Ada"], "mentions": [{"start": 0, "end": 1, "label": "PER"}]}\n'


@pytest.mark.parametrize(
    "name, format",
    [
        ("a.spacy", "spacy"),
        ("a.txt", "bracket"),
        ("a.tsv", "bio"),
        ("a.bio", "bio"),
        ("a.conll", "bio"),
        ("a.ann", "brat"),
        ("a.conllu", "conllu"),
        ("a.pubtator", "pubtator"),
        ("a.csv", "csv"),
        ("a.jsonl", "jsonl"),
        ("a.xml", "xml"),
        ("a.index", "index"),
    ],
)
def test_the_file_name_shows_the_format_to_write(tmp_path, name, format):
    assert conversion.detect_format(tmp_path / "new" / name, writing=True) == format


@pytest.mark.parametrize(
    "name, format",
    [
        ("a.spacy", "spacy"),
        ("a.bio", "bio"),
        ("a.ann", "brat"),
        ("a.conllu", "conllu"),
        ("a.pubtator", "pubtator"),
        ("a.xml.gz", "genia"),
        ("a.tgz", "genia"),
        ("a.index", "index"),
    ],
)
def test_a_name_that_only_one_format_uses_decides(tmp_path, name, format):
    assert conversion.detect_format(write(tmp_path / name)) == format
    assert conversion.detect_format(tmp_path) == format


@pytest.mark.parametrize(
    "name, text, format",
    [
        ("a.txt", BRACKET, "bracket"),
        ("a.tsv", BIO, "bio"),
        ("a.conll", BIO, "bio"),
        ("a.jsonl", JSONL, "jsonl"),
        ("a.xml", GENIA, "genia"),
        ("a.xml", XML, "xml"),
        ("a.tsv", WEBANNO, "webanno"),
        ("a.conll", CONLLU, "conllu"),
        ("a.csv", TABLE, "csv"),
        ("a.tsv", TABLE.replace(";", "\t"), "csv"),
        ("a.txt", CONLL_2003, "bio"),
        ("a.txt", PUBTATOR, "pubtator"),
        ("a.txt", XML, "xml"),
        ("eng.train", CONLL_2003, "bio"),
        ("a.json", LABEL_STUDIO, "label-studio"),
        ("a.json", '[{"tokenized_text": ["Ada"], "ner": [[0, 0, "PER"]]}]', "gliner"),
        ("a.jsonl", '{"tokenized_text": ["Ada"], "ner": [[0, 0, "PER"]]}', "gliner"),
        ("a.json", '{"sentences": [["Ada"]], "ner": [[[0, 0, "PER"]]]}', "dygie"),
        ("a.jsonl", '{"tokens": ["Ada"], "ner_tags": ["B-PER"]}', "huggingface"),
        ("a.json", '[["Ada", {"entities": [[0, 3, "PER"]]}]]', "spacy-v2"),
        ("a.dat", '{"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "PER"}]}', "jsonl"),
        ("a.doc", BRACKET, "bracket"),
    ],
)
def test_the_content_shows_the_format(tmp_path, name, text, format):
    assert conversion.detect_format(write(tmp_path / name, text)) == format
    assert conversion.detect_format(tmp_path) == format
    report = convert(tmp_path, tmp_path / "out" / "out.jsonl", settings=settings())
    assert report.mentions == 1


def test_a_text_with_an_annotation_file_is_brat(tmp_path):
    write(tmp_path / "a.ann", "")
    assert conversion.detect_format(write(tmp_path / "a.txt")) == "brat"
    write(tmp_path / "README.txt")
    assert conversion.detect_format(tmp_path) == "brat"
    assert conversion.detect_format(tmp_path / "README.txt") == "bracket"
    assert conversion.detect_format(tmp_path / "a.txt", writing=True) == "bracket"


def test_unclear_and_unknown_formats(tmp_path):
    unclear = (
        r"cannot tell the format of .*a.doc by its name or content; choose one of spacy, bracket, bio.* with --from"
    )
    with pytest.raises(ValueError, match=unclear):
        convert(write(tmp_path / "a.doc", "Ada sings .\n"), tmp_path / "b.spacy")
    with pytest.raises(
        ValueError, match=r"cannot tell the format of .*out by its name; choose one of spacy.* with --to"
    ):
        convert(write(tmp_path / "a.txt"), tmp_path / "out")
    write(tmp_path / "b.tsv", BIO)
    with pytest.raises(
        ValueError, match=r"cannot tell the format of .*: its files may be bio or bracket; choose one of spacy"
    ):
        convert(tmp_path, tmp_path / "c.spacy")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(ValueError, match=r"cannot tell the format of .* by the names or contents of its files; choose"):
        convert(tmp_path / "nothing", tmp_path / "c.spacy")
    with pytest.raises(ValueError, match=r"format is 'bart'; expected one of spacy, bracket"):
        convert(tmp_path, tmp_path / "c.spacy", source_format="bart")
    with pytest.raises(ValueError, match=r"format is 'bart'; expected one of spacy, bracket"):
        convert(tmp_path / "a.txt", tmp_path / "c.spacy", target_format="bart")


def test_binary_files_have_no_format(tmp_path):
    (tmp_path / "a.dat").write_bytes(b"\0\1[PER Ada]")
    with pytest.raises(ValueError, match="cannot tell the format"):
        convert(tmp_path / "a.dat", tmp_path / "b.spacy")


def test_other_files_in_a_folder_do_not_matter(tmp_path):
    write(tmp_path / "in" / "a.txt")
    write(tmp_path / "in" / "LICENSE", "You may copy this .\n")
    write(tmp_path / "in" / "notes.md", "These are notes .\n")
    assert convert(tmp_path / "in", tmp_path / "out.spacy", settings=settings()).mentions == 1


def test_text_without_mentions_is_an_error(tmp_path):
    path = write(tmp_path / "a.txt", "Just a text .\n\nAnd another one .\n")
    with pytest.raises(
        FormatError,
        match=r"a.txt: no mention found in 2 documents; read as bracket because of its name; choose one of .*"
        r" with --from, or convert texts without mentions with --allow-empty$",
    ):
        convert(path, tmp_path / "out.spacy", settings=settings())
    assert not (tmp_path / "out.spacy").exists()
    assert convert(path, tmp_path / "out.spacy", settings=settings(), allow_empty=True).documents == 2


def test_an_error_in_a_file_of_doubtful_format_names_the_others(tmp_path):
    path = write(tmp_path / "a.tsv", "Ada sings\tin Bonn\n")
    with pytest.raises(
        FormatError,
        match=r"a.tsv, line 1: tag 'in Bonn': expected O.*; if this is not bio, choose one of spacy, .* --from",
    ):
        convert(path, tmp_path / "out.spacy")
    path = write(tmp_path / "b.tsv", "Ada\tB-PER\nsings\tB\n")
    with pytest.raises(FormatError, match=r"b.tsv, line 2: tag 'B': expected O, B-LABEL or I-LABEL$"):
        convert(path, tmp_path / "out.spacy")


def test_no_mention_but_entities(tmp_path):
    doc = make_doc([(["Ada", "sings"], [])])
    doc.ents = [Span(doc, 0, 1, label="PER")]
    DocBin(docs=[doc]).to_disk(tmp_path / "a.spacy")
    with pytest.raises(
        FormatError, match=r"1 document; read as spacy; take what is in doc.ents \(1 span\) with --ents, or convert"
    ):
        convert(tmp_path / "a.spacy", tmp_path / "b.spacy")


def test_a_folder_becomes_one_file(tmp_path):
    write(tmp_path / "in" / "b.txt", "[PER Bo] sings .\n")
    write(tmp_path / "in" / "a.txt")
    report = convert(tmp_path / "in", tmp_path / "new" / "out.spacy", settings=settings())
    docs, _ = read(tmp_path / "new" / "out.spacy")
    assert [shown(doc) for doc in docs] == [[("PER", "Ada")], [("PER", "Bo")]]
    assert report.documents == 2


def test_output_in_the_folder_of_the_input_is_not_read(tmp_path):
    write(tmp_path / "a.txt")
    assert convert(tmp_path, tmp_path / "all.txt", settings=settings()).documents == 1
    with pytest.raises(ValueError, match=r"all.txt is both input and output; choose another output"):
        convert(tmp_path, tmp_path / "all.txt")


def test_only_named_files_are_read(tmp_path):
    for name in ("a", "b", "c"):
        write(tmp_path / "in" / f"{name}.txt", f"[PER {name}]\n")
    convert(tmp_path / "in", tmp_path / "out.txt", names={"a", "c.txt"}, settings=settings())
    assert (tmp_path / "out.txt").read_text() == "[PER a]\n\n[PER c]\n"
    with pytest.raises(FormatError, match=r"in: 2 of the 3 named files are missing: d, e; correct the names"):
        convert(tmp_path / "in", tmp_path / "out.txt", names={"a", "d", "e"})
    with pytest.raises(FormatError, match=r"in: the list of files to read is empty; name at least one"):
        convert(tmp_path / "in", tmp_path / "out.txt", names=[])


def test_missing_and_empty_input(tmp_path):
    with pytest.raises(FormatError, match=r"a.txt: no such file or folder"):
        convert(tmp_path / "a.txt", tmp_path / "out.spacy")
    with pytest.raises(FormatError, match=r"a.txt: no such file or folder"):
        convert(tmp_path / "a.txt", tmp_path / "out.spacy", source_format="bracket")
    (tmp_path / "in").mkdir()
    with pytest.raises(FormatError, match=r"in: the folder has no file whose name ends in .tsv or .bio or .conll"):
        convert(tmp_path / "in", tmp_path / "out.spacy", source_format="bio")
    with pytest.raises(
        FormatError, match=r"b.txt: no document found; read as bracket because of its name; choose one of"
    ):
        convert(write(tmp_path / "b.txt", "# only a comment\n"), tmp_path / "out.spacy")
    assert not (tmp_path / "out.spacy").exists()


def test_nothing_is_written_after_an_error(tmp_path):
    source = write(tmp_path / "in.txt", "[PER Ada]\n\n" * 50 + "[PER Bo\n")
    target = write(tmp_path / "out" / "out.tsv", "as it was")
    with pytest.raises(FormatError, match=r"in.txt, line 101: the mention PER"):
        convert(source, target)
    assert target.read_text() == "as it was"
    assert [file.name for file in target.parent.iterdir()] == ["out.tsv"]
    report = convert(source, target, skip_bad=True, settings=settings())
    assert target.read_text().startswith("# document 1\nAda\tB-PER\tO\n")
    assert (report.documents, report.bad.count) == (50, 1)


def test_documents_that_cannot_be_written_are_bad_too(tmp_path):
    source = write(tmp_path / "in.txt", "[PER good]\n\nb\\u0009d\n")
    with pytest.raises(FormatError, match=r"in.txt, line 3: 'b\\td' contains a tab or a line break"):
        convert(source, tmp_path / "out.tsv", settings=settings())
    report = convert(source, tmp_path / "out.tsv", skip_bad=True, settings=settings())
    assert (tmp_path / "out.tsv").read_text() == "# document 1\ngood\tB-PER\tO\n\n"
    assert report.bad.count == 1


def test_losses_name_the_place_they_come_from(tmp_path):
    source = write(tmp_path / "in.tsv", "a\tO\tO\n\n# next\n\nb\tB-X\tO\nc\tI-X\tB-Y\nd\tO\tI-Y\n")
    report = convert(source, tmp_path / "out.txt", settings=settings())
    assert report.lost["mentions that cross another"].places == [f"{source}, line 5: Y 'c d'"]


def test_targets_that_would_destroy_something(tmp_path):
    source = write(tmp_path / "in.txt")
    with pytest.raises(ValueError, match=r"in.txt is both input and output; choose another output"):
        convert(source, source)
    with pytest.raises(ValueError, match=r"in.txt is both input and output; choose another output"):
        convert(source, tmp_path / "in.ann", source_format="bracket")
    with pytest.raises(ValueError, match=r"is a folder; name the file to write, such as .*corpus.spacy"):
        convert(source, tmp_path, target_format="spacy")
    with pytest.raises(ValueError, match=r"the folder .* is not empty; choose another, or empty it first"):
        convert(source, tmp_path, target_format="brat")
    with pytest.raises(ValueError, match=r"split is for genia, which has a standard split; .*in.txt is bracket"):
        convert(source, tmp_path / "out", split=True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes in folders")
@pytest.mark.parametrize("name", ["out.jsonl", "out.spacy", "out.txt", "brat", "out.ann"])
def test_what_is_no_file_is_not_replaced(tmp_path, name):
    """As root, it once replaced devices."""
    source = write(tmp_path / "in.txt")
    os.mkfifo(tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name} is a pipe; it is left as it is: name a file or folder to write"):
        convert(source, tmp_path / name, target_format="brat" if name == "brat" else None)
    with pytest.raises(ValueError, match=rf"{name} is a pipe"):
        write_docs([make_doc([(["Ada"], [])])], tmp_path / name, format="brat" if name == "brat" else None)
    assert (tmp_path / name).is_fifo()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other modes")
def test_output_goes_through_a_link_and_keeps_the_mode(tmp_path):
    target = write(tmp_path / "elsewhere" / "real.jsonl", "old")
    target.chmod(0o640)
    (tmp_path / "link.jsonl").symlink_to(target)
    convert(write(tmp_path / "in.txt"), tmp_path / "link.jsonl", settings=settings())
    assert (tmp_path / "link.jsonl").is_symlink()
    assert target.read_text().startswith('{"tokens": ["Ada", "sings", "."]')
    assert target.stat().st_mode & 0o777 == 0o640


def test_half_a_file_in_a_hidden_folder_is_no_data(tmp_path):
    write(tmp_path / "in" / "a.txt")
    write(tmp_path / "in" / ".converting-x" / "b.txt", "[PER half")
    write(tmp_path / "in" / ".writing-x" / "new" / "c.jsonl", '{"tokens": [')
    assert convert(tmp_path / "in", tmp_path / "out.spacy", settings=settings()).documents == 1
    assert len(list(input_docs([str(tmp_path / "in")], settings=settings()))) == 1


@pytest.mark.parametrize("name", ["again.spacy", "a.txt", "a.tsv", "brat", "a.jsonl", "a.index"])
def test_only_spacy_files_and_json_lines_can_mark_incomplete_annotation(tmp_path, name):
    docs = [make_doc([(["Ada", "sings", "."], [(0, 1, "PER")])]) for _ in range(2)]
    docs[1].spans["sc"].attrs["incomplete"] = True
    write_docs(docs, tmp_path / "whole.spacy")
    report = convert(tmp_path / "whole.spacy", tmp_path / name, target_format="brat" if name == "brat" else None)
    if name.endswith((".spacy", ".jsonl")):
        assert not report.lost
        assert [doc.spans["sc"].attrs for doc in read_docs(tmp_path / name)] == [{}, {"incomplete": True}]
    else:
        loss = report.lost["marks of incomplete annotation"]
        assert loss.places == [f"{tmp_path / 'whole.spacy'}, document 2"]


def test_if_everything_is_bad_the_error_says_why(tmp_path):
    write(tmp_path / "bad.txt", "[PER Ada\n")
    with pytest.raises(
        FormatError,
        match=r"no document found; read as bracket .* with --from\nSkipped as bad: 1\n    .*line 1: the mention PER",
    ):
        convert(tmp_path / "bad.txt", tmp_path / "out.spacy", skip_bad=True)


@pytest.mark.parametrize("name", ["out.txt", "out.tsv", "out.jsonl", "out.index", "out.ann"])
def test_only_spacy_files_can_have_mentions_without_a_label(tmp_path, name):
    doc = make_doc([(["Ada", "sings"], [])])
    doc.spans["sc"] = [doc[0:1]]
    with pytest.raises(FormatError, match="document 1: the mention 'Ada' has no label; give it one, or write spacy"):
        write_docs([doc], tmp_path / name)
    write_docs([doc], tmp_path / "out.spacy")
    assert [file.name for file in tmp_path.iterdir()] == ["out.spacy"]


def test_suffixes_may_be_in_upper_case(tmp_path):
    for name in ("a.jsonl", "B.JSONL"):
        write(tmp_path / name, '{"tokens": ["Ada"], "mentions": []}')
    assert len(list(read_docs(tmp_path))) == 2


def test_records_name_the_place_of_a_document(tmp_path):
    path = write(tmp_path / "a.txt", "Ada\n\n\nBo\nCy\n")
    assert [(record.doc.text.strip(), record.where) for record in read_records(path, settings=settings())] == [
        ("Ada", f"{path}, line 1"),
        ("Bo Cy", f"{path}, line 4"),
    ]


def test_splits_are_for_formats_that_have_one(tmp_path):
    source = write(tmp_path / "in.txt")
    with pytest.raises(ValueError, match=r"split is for genia, which has a standard split; .*in.txt is bracket"):
        convert(source, tmp_path / "out", split=True)
    with pytest.raises(ValueError, match=r"format is 'bart'; expected one of spacy, bracket"):
        convert(source, tmp_path / "out", split=True, source_format="bart")


@pytest.mark.parametrize("number", ["1" * 5000, "1e400"])
@pytest.mark.parametrize(
    "name, content",
    [
        ("a.pubtator", "1|t|Ada\n1|a|sings\n1\t0\t{}\tAda\tPER\n"),
        ("a.index", "Ada sings\n0,{} PER\n"),
        ("a.tsv", "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.B|c\n1-1\t0-{}\tAda\tPER\t\n"),
        ("a.ann", "T1\tPER 0 {}\tAda\n"),
        ("a.csv", "text,start,end,label\nAda,0,{},PER\n"),
        ("a.jsonl", '{{"text": "Ada", "spans": [[0, {}, "PER"]]}}\n'),
    ],
)
def test_numbers_that_are_too_large_have_a_place(tmp_path, name, content, number):
    write(tmp_path / "a.txt", "Ada sings\n")
    write(tmp_path / name, content.format(number))
    with pytest.raises(FormatError, match=rf"^[^\n]*{name}, line \d[^\n]*$") as caught:
        convert(tmp_path / name, tmp_path / "out.spacy")
    assert len(str(caught.value)) < 500
    with pytest.raises(FormatError, match=r"Skipped as bad: 1"):
        convert(tmp_path / name, tmp_path / "out.spacy", skip_bad=True)
