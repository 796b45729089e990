"""python -m spacy_nested_ner.decoders"""

from spacy_nested_ner.decoders.__main__ import main


def test_the_decoders_at_work_on_one_sentence(capsys):
    main()
    shown = capsys.readouterr().out
    for name in ("FlatDecoder", "QuadraticDecoder", "CubicDecoder"):
        assert f"{name}(" in shown
    # The whole sentence is one mention for the nested decoders.
    assert shown.count("PER Chair of the Committee of Ministers of the Council of Europe\n") >= 2
    assert "[↔, 0, 11]" in shown
    assert shown.endswith("(h) with 28 & 27\n")
