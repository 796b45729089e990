"""Pictures of nested mentions: the drawing of a text, plots, tables, and the page of the report."""

from .page import render_page
from .rendering import render

__all__ = ["render", "render_page"]
