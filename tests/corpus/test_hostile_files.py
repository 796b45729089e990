"""Files from anywhere: they execute nothing, write nowhere else, and take no more memory than allowed."""

import gzip
import io
import pickle
import tarfile
import zlib

import pytest
from nested_documents import make_doc, read, save, settings
from spacy.tokens import DocBin

from spacy_nested_ner.corpus import FormatError, convert, read_docs, write_docs
from spacy_nested_ner.corpus.formats import FORMATS

HEAD = '<?xml version="1.0"?>\n'
BODY = '<set><article><sentence><cons sem="G#DNA_x">IL-2</cons> gene {}</sentence></article></set>'


class Payload:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


# ---- code ----


@pytest.mark.parametrize("suffix", sorted({suffix for format in FORMATS.values() for suffix in format.suffixes}))
@pytest.mark.parametrize("pack", [bytes, zlib.compress, gzip.compress])
def test_nothing_is_unpickled(tmp_path, suffix, pack):
    made = tmp_path / "made"
    data = pickle.dumps(Payload(made))
    with pytest.raises(ZeroDivisionError):
        pickle.loads(pickle.dumps(Payload(made))).close() or 1 / 0
    assert made.exists()  # the payload works
    made.unlink()
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / f"a{suffix}"
    path.write_bytes(pack(data))
    path.with_suffix(".txt").touch()
    with pytest.raises(ValueError):  # noqa: PT011 - each format says it in its own words
        convert(path, tmp_path / "out.jsonl", settings=settings())
    assert not made.exists()


# ---- entities of XML ----


@pytest.mark.parametrize("format", ["genia", "xml"])
@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "b">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        '<!ENTITY a PUBLIC "p" "https://example.org/a">',
        '<!ENTITY % a SYSTEM "file:///etc/hostname"> %a;',
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">',
    ],
)
@pytest.mark.parametrize("root", ["set", "set SYSTEM 'gpml.dtd'"])
def test_entities_are_refused(tmp_path, format, declaration, root):
    text = f"{HEAD}<!DOCTYPE {root} [\n{declaration}]>{BODY.format('&a;')}"
    with pytest.raises(FormatError, match=r"a\.xml, line 3: the file declares the entity 'a'; replace entities by"):
        list(read_docs(save(tmp_path / "a.xml", text), format, settings=settings()))


def test_a_dtd_elsewhere_is_not_fetched(tmp_path):
    text = f"{HEAD}<!DOCTYPE set SYSTEM 'https://example.org/gpml.dtd'>{BODY.format('')}"
    assert len(read(save(tmp_path / "a.xml", text))[0]) == 1


# ---- bombs ----


def bomb(path):
    """A file that is small, and large when it is decompressed."""
    xml = (HEAD + BODY.format("x " * 2**17)).encode()
    if path.suffix == ".tgz":
        with tarfile.open(path, "w:gz") as archive:
            member = tarfile.TarInfo("GENIAcorpus3.02.xml")
            member.size = len(xml)
            archive.addfile(member, io.BytesIO(xml))
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(xml))
    else:
        doc = make_doc([(["Ada"], [(0, 1, "PER")])])
        doc.user_data["large"] = "x" * 2**18
        DocBin(docs=[doc], store_user_data=True).to_disk(path)
    assert path.stat().st_size < 100_000
    return path


@pytest.mark.parametrize("name", ["a.xml.gz", "a.tgz", "a.spacy"])
def test_what_is_compressed_has_a_limit(tmp_path, name):
    path = bomb(tmp_path / name)
    message = (
        rf"{name}: it has more than 200,000 bytes when it is decompressed; if it is no bomb, raise the limit with "
        rf"--max-bytes, in Python with Settings\(max_bytes=…\)"
    )
    with pytest.raises(FormatError, match=message):
        convert(path, tmp_path / "out.jsonl", settings=settings(max_bytes=200_000))
    assert convert(path, tmp_path / "out.jsonl", settings=settings()).documents == 1


def test_a_limit_is_a_number_of_bytes():
    with pytest.raises(ValueError, match="max_bytes is 0; expected 1 or more bytes"):
        settings(max_bytes=0)


# ---- paths ----


def test_archives_are_read_and_never_unpacked(tmp_path):
    xml = (HEAD + BODY.format("")).encode()
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    with tarfile.open(folder / "in.tgz", "w:gz") as archive:
        for name, kind in (
            ("../../evil.txt", tarfile.REGTYPE),
            ("/tmp/evil.txt", tarfile.REGTYPE),
            ("link/GENIAcorpus3.02.xml", tarfile.SYMTYPE),
            ("../../GENIAcorpus3.02.xml", tarfile.REGTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = "/etc/hostname"
            member.size = len(xml) if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(xml))
    assert convert(folder / "in.tgz", folder / "out.jsonl", settings=settings()).documents == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "in.tgz", "out.jsonl"]


def test_no_id_becomes_a_path(tmp_path):
    source = save(
        tmp_path / "in.jsonl",
        '{"id": "../../evil", "doc_key": "/tmp/evil", "text": "Ada", '
        '"spans": [{"start": 0, "end": 3, "label": "PER"}]}\n',
    )
    convert(source, tmp_path / "a" / "brat", target_format="brat", settings=settings())
    names = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert names == ["a", "a/brat", "a/brat/00001.ann", "a/brat/00001.txt", "in.jsonl"]


# ---- what is written can be read ----


@pytest.mark.parametrize("name", ["a.index", "a.txt", "a.tsv", "a.jsonl", "a.conllu", "a.csv"])
def test_a_leading_byte_order_mark_is_kept(tmp_path, name):
    write_docs([make_doc([(["\ufeffAda", "sings"], [(0, 1, "PER")])])], tmp_path / name)
    [doc] = read(tmp_path / name)[0]
    assert doc[0].text == "\ufeffAda"


def test_brat_cannot_have_mentions_of_whitespace(tmp_path):
    doc = make_doc([(["Ada", "  ", "sings"], [(0, 1, "PER"), (1, 2, "GAP")])])
    report = write_docs([doc], tmp_path / "a.ann")
    assert report.lost["mentions of only whitespace"].places == ["document 1: GAP 1:2"]
    [again] = read(tmp_path / "a.ann")[0]
    assert [span.label_ for span in again.spans["sc"]] == ["PER"]
