"""spaCy: the pipe nested_ner, and what it learns from and predicts."""
