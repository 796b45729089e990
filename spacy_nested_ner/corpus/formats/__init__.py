"""One file per format: documents in and out."""
