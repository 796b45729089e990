"""GENIA's XML: labels, words and the standard split."""

import gzip
import io
import tarfile
from dataclasses import replace

import pytest
from nested_documents import read, settings, shown

from spacy_nested_ner.corpus import FORMATS, FormatError, convert
from spacy_nested_ner.corpus.formats import genia

XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE set SYSTEM "gpml.dtd">
<set>
<article>
<articleinfo><bibliomisc>MEDLINE:1</bibliomisc></articleinfo>
<title>
<sentence><cons lex="x" sem="G#other_name"><cons lex="y" sem="G#DNA_domain_or_region">\
<cons sem="G#protein_molecule">IL-2</cons> gene</cons> expression</cons> &amp; more \
(<cons sem="(AND G#cell_type G#RNA_N/A)">T &lt; B</cons>).</sentence>
</title>
<abstract>
<sentence><cons sem="G#protein_molecule"><cons sem="G#protein_complex">CD28</cons></cons>-mediated.</sentence>
<sentence><cons>No class</cons> here.</sentence>
</abstract>
</article>
<article>
<articleinfo><bibliomisc>MEDLINE:2</bibliomisc></articleinfo>
<abstract><sentence>Last one.</sentence></abstract>
</article>
</set>
"""


def pack(path, files):
    """Make an archive."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def write(tmp_path, text=XML, name="corpus.xml"):
    path = tmp_path / name
    if name.lower().endswith(".tgz"):
        pack(path, {"GENIA/gpml.css": "", f"GENIA/{genia.CORPUS}": text})
        return path
    path.write_bytes(gzip.compress(text.encode()) if name.lower().endswith(".gz") else text.encode())
    return path


@pytest.fixture
def set_split(monkeypatch):
    """Use another standard split."""

    def set_sizes(*sizes):
        monkeypatch.setattr(genia, "SPLIT", sizes)
        monkeypatch.setitem(FORMATS, "genia", replace(FORMATS["genia"], split=sizes))

    return set_sizes


@pytest.mark.parametrize("name", ["corpus.xml", "corpus.xml.gz", "corpus.tgz", "CORPUS.XML.GZ", "CORPUS.TGZ"])
def test_labels_and_words(tmp_path, name):
    path = write(tmp_path, name=name)
    docs, report = read(path)
    assert [doc.text.strip() for doc in docs] == [
        "IL-2 gene expression & more (T < B). CD28-mediated. No class here.",
        "Last one.",
    ]
    assert " ".join(token.text for token in docs[0]) == (
        "IL-2 gene expression & more ( T < B ) . CD28 -mediated . No class here ."
    )
    # The first of the five labels that occurs anywhere, not the one that occurs first.
    assert shown(docs[0]) == [("DNA", "IL-2 gene"), ("protein", "IL-2"), ("RNA", "T < B"), ("protein", "CD28")]
    assert [sent.start for sent in docs[0].sents] == [0, 11, 14]
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "elements of other classes": [
            f"{path}, sentence 1 (MEDLINE:1): G#other_name 'IL-2 gene expression'",
            f"{path}, sentence 3 (MEDLINE:1): no class 'No class'",
        ],
        "repeated mentions (same span and label)": [f"{path}, sentence 2 (MEDLINE:1): protein 'CD28'"],
    }


@pytest.mark.parametrize(
    "text, words",
    [
        ("We see A, B; C: D?", "We see A , B ; C : D ?"),
        ("a,b and 1,25 and 1,b", "a , b and 1,25 and 1,b"),
        ("vs. the i.e. end.", "vs. the i.e. end ."),
        ("(IL-2) [IL-2] {x}", "( IL-2 ) [ IL-2 ] { x }"),
        ("((a) b) 10(-7) HMG-I(Y) (IL)-2 [3H]dex", "( ( a ) b ) 10(-7) HMG-I(Y) (IL)-2 [3H]dex"),
        ("(1,25(OH)2D3), x", "( 1,25(OH)2D3 ) , x"),
        ("p50/p65 NF-kappa-B 5'-end 10%", "p50/p65 NF-kappa-B 5'-end 10%"),
        ('a "b c" d', 'a " b c " d'),
        ("(p < 0.05).", "( p < 0.05 ) ."),
        (")", ")"),
        ("  odd \n space ", "odd space"),
    ],
)
def test_words(text, words):
    assert [text[start:end] for start, end in genia.tokenize(text)] == words.split()


def test_words_end_where_mentions_do():
    text = "anti-CD28-mediated,CD4(+)"
    assert [text[start:end] for start, end in genia.tokenize(text, {5, 9, 19, 22})] == [
        "anti-",
        "CD28",
        "-mediated",
        ",",
        "CD4",
        "(",
        "+",
        ")",
    ]


def test_the_standard_split_divides_articles(tmp_path, set_split):
    set_split(2, 1, 1)
    report = convert(write(tmp_path), tmp_path / "out", split=True, settings=settings())
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["dev.spacy", "test.spacy", "train.spacy"]
    parts = [read(tmp_path / "out" / f"{part}.spacy")[0] for part in ("train", "dev", "test")]
    assert [[len(list(doc.sents)) for doc in docs] for docs in parts] == [[2], [1], [1]]
    assert (report.documents, report.sentences, report.mentions) == (3, 4, 4)
    convert(write(tmp_path), tmp_path / "brat", split=True, target_format="brat", settings=settings())
    assert sorted(file.name for file in (tmp_path / "brat" / "train").iterdir()) == ["00001.ann", "00001.txt"]


@pytest.mark.parametrize(
    "split, reason",
    [
        ((2, 1, 2), "corpus.xml: 1 of 2 sentences of a part are missing; expected the whole corpus"),
        ((2, 1, 0), "corpus.xml: more than 3 sentences; expected the whole corpus and no more"),
    ],
)
def test_a_split_needs_the_whole_corpus(tmp_path, set_split, split, reason):
    set_split(*split)
    with pytest.raises(FormatError, match=reason):
        convert(write(tmp_path), tmp_path / "out", split=True, settings=settings())
    assert not list((tmp_path / "out").iterdir())


def test_a_split_divides_no_document(tmp_path, set_split, monkeypatch):
    set_split(2, 1, 1)
    monkeypatch.setattr(genia, "SPLIT", (3, 0, 1))  # so that the reader divides articles at other places
    reason = r"MEDLINE:1: 1 sentences too many for a part of 2; expected the original order"
    with pytest.raises(FormatError, match=reason):
        convert(write(tmp_path), tmp_path / "out", split=True, settings=settings())


def test_bad_files(tmp_path):
    with pytest.raises(FormatError, match=r"corpus.xml, line 4: not well-formed XML: no element found"):
        read(write(tmp_path, "\n".join(XML.split("\n")[:3]) + "\n"))
    whole = write(tmp_path, name="corpus.xml.gz")
    whole.write_bytes(whole.read_bytes()[:-20])
    with pytest.raises(
        FormatError,
        match=r"corpus.xml.gz: not a complete gzip file: Compressed file ended before .*; download it again",
    ):
        read(whole)
    whole.write_text("plain")
    with pytest.raises(FormatError, match=r"corpus.xml.gz: not a complete gzip file: Not a gzipped file"):
        read(whole)


def test_a_mention_without_words_is_bad(tmp_path):
    path = write(tmp_path, XML.replace("Last one", '<cons sem="G#DNA"> </cons>'))
    with pytest.raises(FormatError, match=r"sentence 4 \(MEDLINE:2\): a <cons> element of class G#DNA has no words"):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (len(docs), report.bad.count) == (1, 1)


def test_genia_is_read_only(tmp_path):
    with pytest.raises(ValueError, match="format genia is read-only; write one of spacy, bracket, bio"):
        convert(write(tmp_path), tmp_path / "out.xml", target_format="genia")


def test_an_archive_without_the_corpus(tmp_path):
    path = tmp_path / "corpus.tgz"
    pack(path, {"GENIA/other.xml": XML})
    with pytest.raises(FormatError, match=r"the archive has GENIA/other.xml; expected GENIAcorpus3.02.xml in it"):
        read(path)
    path.write_text("<html>Not found</html>")
    with pytest.raises(FormatError, match=r"corpus.tgz: not a complete archive: .*; download it again"):
        read(path)
    whole = gzip.compress(b"x" * 2000)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"corpus.tgz: not a complete archive"):
        read(path)


def test_deep_elements(tmp_path):
    deep = 20_000
    cons = '<cons sem="G#DNA_x">' * deep + "IL-2" + "</cons>" * deep
    docs, report = read(write(tmp_path, XML.replace("Last one", cons)))
    assert shown(docs[1]) == [("DNA", "IL-2")]
    assert report.lost["repeated mentions (same span and label)"].count == deep


def test_entity_bombs(tmp_path):
    levels = "".join(f"<!ENTITY b{n + 1} '{f'&b{n};' * 10}'>" for n in range(12))
    text = XML.replace('<!DOCTYPE set SYSTEM "gpml.dtd">', f"<!DOCTYPE set [<!ENTITY b0 'bomb'>{levels}]>")
    with pytest.raises(FormatError, match=r"corpus.xml, line \d+: the file declares the entity 'b0'; replace entities"):
        read(write(tmp_path, text.replace("Last one", "&b12;")))


@pytest.mark.parametrize(
    "text", ["((((", "))))", "((((a", "a))))", "(()", "())", "([)]", ")(", "a)(b", "({[a]})", "(a)(b)"]
)
def test_brackets_and_their_partners(text):
    """As many brackets are split off as by looking for the partner of each one anew."""

    def is_lonely(piece):
        partner = dict(zip("([{)]}", ")]}([{")).get(piece[0])
        level = 0
        for i, character in enumerate(piece if partner else ""):
            level += (character == piece[0]) - (character == partner)
            if level == 0:
                return i == len(piece) - 1
        return partner is not None

    start, end = 0, len(text)
    while end - start > 1:
        if is_lonely(text[start:end]):
            start += 1
        elif is_lonely(text[start:end][::-1]):
            end -= 1
        else:
            break
    edges = [(i, i + 1) for i in range(start)] + [(start, end)] + [(i, i + 1) for i in range(end, len(text))]
    assert genia.tokenize(text) == edges


def test_many_brackets():
    assert len(genia.tokenize("(" * 100_000 + "a")) == 100_001
