"""An extension of griffe that reads docstrings in spaCy's form, so that mkdocstrings shows parameters as tables.

name (type): What it is. Continued
    like this.
RETURNS (type): What comes back.
"""

import re
from typing import Any

from griffe import Class, Extension, Object

# A field of a docstring, which begins at the margin; several names may share it.
FIELD = re.compile(r"^(RETURNS|YIELDS|[*a-z_]\w*(?:, [*a-z_]\w*)*) \((.+?)\)(?::\s*(.*)|\s*)$")
HEADINGS = {"RETURNS": "Returns", "YIELDS": "Yields"}


class SpacyDocstrings(Extension):
    """Rewrite docstrings in Google's form, which griffe can parse."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring and not obj.is_alias:
            section = "Attributes" if isinstance(obj, Class) else "Args"
            obj.docstring.value = as_google(obj.docstring.value, section)


def as_google(text: str, section: str = "Args") -> str:
    """A docstring in Google's form.

    text (str): A docstring in spaCy's form, or any other, which stays as it is.
    section (str): The heading of the named fields.
    RETURNS (str): The same with headings.
    """
    free: list[str] = []
    fields: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        match = FIELD.match(line)
        if match:
            fields.append((match[1], match[2], [match[3] or ""]))
        elif line.startswith(" ") and fields:
            fields[-1][2].append(f"        {line.strip()}")
        else:
            free.append(line)
    bodies: dict[str, list[str]] = {section: [], "Returns": [], "Yields": []}
    for names, kind, meaning in fields:
        # Names that share a field share its description.
        for name in [""] if names in HEADINGS else [f"{name} " for name in names.split(", ")]:
            bodies[HEADINGS.get(names, section)].append("\n".join([f"    {name}({kind}): {meaning[0]}", *meaning[1:]]))
    # Markdown wants a blank line before a list.
    lines = [re.sub(r"^(?!- | )(.+)\n(?=- )", r"\1\n\n", "\n".join(free).strip(), flags=re.MULTILINE)]
    lines += ["\n".join([f"{heading}:", *body]) for heading, body in bodies.items() if body]
    return "\n\n".join(filter(None, lines))
