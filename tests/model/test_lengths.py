"""Which span lengths share an embedding."""

from spacy_nested_ner.model._lengths import N_ROWS, length_row


def test_lengths_share_embeddings_by_doublings():
    rows = [length_row(length) for length in range(1, 3000)]
    assert rows[:16] == list(range(16))
    assert rows == sorted(rows)
    assert len({length_row(n) for n in (17, 24, 32, 48, 64, 96)}) == 6
    assert length_row(17) == length_row(23)
    assert max(rows) == N_ROWS - 1
