"""Pictures of nested mentions: sentences, plots, tables, and the page of the report."""

from .page import render_page

__all__ = ["render_page"]
