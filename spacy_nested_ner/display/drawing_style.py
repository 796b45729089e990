"""The style sheet of drawings: light or dark, as the page around them is; always light in print."""

from collections.abc import Mapping

from .colors import color_rules
from .layout import WIDEST

# The class of the element around a drawing.
ROOT = ".nested-mentions"
# What has the colors of the theme: drawings, what is said about them, and pages that have nothing else.
_THEMED = ":is(.nested-mentions, .nested-mentions-tag, .nested-mentions-key, .nested-mentions-page)"

# Names, and their light and dark values.
THEME = {
    "page": ("#ffffff", "#14181d"),
    "ink": ("#1d2329", "#e8edf2"),
    "soft": ("#59636e", "#a3adb8"),
    "wrong": ("#a00d25", "#ffd3d9"),
    "error": ("#c8102e", "#ff6b7d"),
    "focus": ("#0b57d0", "#8ab8ff"),
    "veil": ("rgba(255, 255, 255, .6)", "rgba(20, 24, 29, .55)"),
    # How much of a label's color there is in its bar.
    "strength": ("100%", "36%"),
    # How light the colors of the user may be.
    "darkest": (".82", "0"),
    "lightest": ("1", ".42"),
}

# Pages that say whether they are light or dark: JupyterLab, Visual Studio Code, MkDocs, and what many others use.
_LIGHT_PAGES = (
    '[data-jp-theme-light="true"]',
    ".vscode-light",
    '[data-md-color-scheme="default"]',
    '[data-theme="light"]',
)
_DARK_PAGES = ('[data-jp-theme-light="false"]', ".vscode-dark", '[data-md-color-scheme="slate"]', '[data-theme="dark"]')


def stylesheet(colors: Mapping[str, str] | None = None) -> str:
    """The style sheet of all drawings.

    colors (Mapping[str, str] | None): Colors of some labels, which replace the default ones.
    """
    light, dark = (" ".join(f"--{name}: {pair[k]};" for name, pair in THEME.items()) for k in (0, 1))
    return "\n".join(
        [
            f"{_THEMED} {{ {light} }}",
            f"@media screen {{ @media (prefers-color-scheme: dark) {{ {_THEMED} {{ {dark} }} }}",
            f":is({', '.join(_LIGHT_PAGES)}) {_THEMED} {{ {light} }}",
            f":is({', '.join(_DARK_PAGES)}) {_THEMED} {{ {dark} }} }}",
            _RULES.replace("ROOT", ROOT).strip(),
            *(f"{ROOT} .p{n} {{ padding-inline-end: {n}ch; }}" for n in range(1, WIDEST + 1)),
            *color_rules(":is(.nested-mentions .m{0}, .nested-mentions-tag{0})", colors),
            "",
        ]
    )


# A column (.w) is a word (b) with one cell (i) per mention: gold above it, what was found below it.
_RULES = """
ROOT { background: var(--page); color: var(--ink); text-align: start; white-space: pre-wrap; overflow-wrap: anywhere;
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
ROOT .k { white-space: nowrap; }
ROOT .r { unicode-bidi: normal; }
ROOT .r[dir="ltr"]::before, ROOT .r[dir="ltr"]::after { content: "\\200e"; }
ROOT .r[dir="rtl"]::before, ROOT .r[dir="rtl"]::after { content: "\\200f"; }
ROOT .w { display: inline-block; max-width: 100%; margin: 3px 0 7px; }
ROOT .w:has(> .g) { margin-block: 12px; }
ROOT .w b { display: block; font-weight: inherit; line-height: 1.35; white-space: break-spaces; }
ROOT .w i { display: block; contain: layout; height: 17px; margin-block: 1px 0; font-style: normal; }
ROOT .w i.g { margin-block: 0 1px; }
ROOT .m, ROOT-tag { box-sizing: border-box; white-space: nowrap; font-size: 11px; line-height: 17px;
  background-color: color-mix(in srgb, var(--label, var(--page)) var(--strength), var(--page)); }
ROOT-tag { display: inline-block; padding: 0 6px; border: 1.5px solid transparent; border-radius: 4px;
  color: var(--ink); font-size: 12px; font-weight: 650; }
ROOT-tag.missed { border: 1.5px dashed var(--ink); }
ROOT-tag.spurious { border: 2px solid var(--error); color: var(--wrong); }
ROOT .w .m.start { position: relative; z-index: 1; border-start-start-radius: 4px; border-end-start-radius: 4px; }
ROOT .w .m { margin-inline-end: -1px; }
ROOT .w .m.end { margin-inline-end: 1px; border-start-end-radius: 4px; border-end-end-radius: 4px; }
ROOT .w .m.gap { margin-inline-end: .36em; }
ROOT .w .m.cut { margin-inline-end: 1px; mask-image: linear-gradient(90deg, #000 40%, #0004); }
ROOT [dir="rtl"] .m.cut { mask-image: linear-gradient(-90deg, #000 40%, #0004); }
ROOT .m.over { contain: layout inline-size; }
ROOT .m.start::before { content: attr(data-label); font-weight: 650; padding-inline: 5px 4px; }
ROOT .m.start::before, ROOT .m.start::after { display: inline-block; }
ROOT .m.start[data-percent]::after { content: attr(data-percent); margin-inline-end: 4px; font-size: .92em;
  unicode-bidi: plaintext; }
ROOT .m.missed { background-image: linear-gradient(var(--veil), var(--veil)); border: 1.5px dashed; border-inline: 0;
  line-height: 15px; }
ROOT .m.spurious { border: 2px solid var(--error); border-inline: 0; color: var(--wrong); line-height: 13px; }
ROOT .m.missed.start { border-inline-start: 1.5px dashed; } ROOT .m.missed.end { border-inline-end: 1.5px dashed; }
ROOT .m.spurious.start { border-inline-start: 2px solid var(--error); }
ROOT .m.spurious.end { border-inline-end: 2px solid var(--error); }
ROOT .w .t { height: 9px; font-size: 8px; line-height: 9px; }
ROOT .m.picked { box-shadow: inset 0 2px var(--focus), inset 0 -2px var(--focus); }
ROOT .m:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; z-index: 2; }
ROOT .before::before, ROOT .after::after { content: "\\200d"; }
ROOT-key { margin: 4px 0 0; background: var(--page); color: var(--soft); font: 13px/1.5 system-ui, sans-serif; }
@media (forced-colors: active) { ROOT .m { border: 1px solid; border-inline: 0; } }
"""

# Of a page that shows one drawing.
PAGE = """
:root { color-scheme: light dark; }
.nested-mentions-page { max-width: 60rem; margin: 0 auto; padding: 24px; background: var(--page); color: var(--ink); }
.nested-mentions-page h1 { font: 600 20px/1.3 system-ui, sans-serif; margin: 0 0 12px; }
.nested-mentions-page h1.unseen { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden;
  clip-path: inset(50%); }
"""
