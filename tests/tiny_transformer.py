"""A transformer of one layer, with letters and a few words as pieces."""

import string

LETTERS = [*string.ascii_letters, *string.digits, *string.punctuation]
WORDS = ["mayor", "mill", "harbor"]


def save_transformer(folder, *, lower=True, width=16, more=()):
    """Save it as spacy-transformers and `spacy nested-ner vectors` read it.

    more (Iterable[str]): Other pieces.
    """
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *WORDS, *(f"##{letter}" for letter in LETTERS)]
    pieces += more
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=lower).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 200}
    # Weights that are not small: vectors of words differ.
    BertModel(BertConfig(vocab_size=len(pieces), hidden_size=width, initializer_range=0.5, **sizes)).save_pretrained(
        folder
    )
    return folder
