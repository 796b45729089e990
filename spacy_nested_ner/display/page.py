"""The numbers about a pipeline as one HTML file that needs no other."""

from collections.abc import Sequence
from html import escape
from typing import Any

from ..corpus.conversion_report import counted
from .colors import color_classes
from .confidence_text import calibration_advice, settings_facts
from .drawing import MISSED, SPURIOUS, Drawing
from .drawing_html import draw_html, draw_tag
from .drawing_style import stylesheet
from .pieces import figure, html_table, legend
from .plots import (
    CURVES,
    ORDER_COLORS,
    draw_calibration,
    draw_precision_recall,
    draw_ranking,
    draw_thresholds,
)
from .style import STYLE
from .tables import percent, score_cells

Row = dict[str, Any]


def render_page(numbers: dict[str, Any]) -> str:
    """The page of `spacy nested-ner report`.

    numbers (dict[str, Any]): What is in report.json.
    RETURNS (str): HTML that needs no other file and no network.
    """
    classes = color_classes(numbers["confusion"]["labels"])
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            f'<head><meta charset="utf-8"><title>{escape(numbers["model"])}: nested mentions</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>\n{stylesheet()}{STYLE}</style></head>",
            "<body><main>",
            *_header(numbers),
            *_scores(numbers),
            *_thresholds(numbers),
            *_calibration(numbers),
            *_error_ranking(numbers["error_ranking"]),
            *_confusion(numbers["confusion"]),
            *_spurious(numbers["spurious"], classes),
            *_examples(numbers["examples"], classes),
            "</main></body>",
            "</html>\n",
        ]
    )


def _header(numbers: dict[str, Any]) -> list[str]:
    facts = [
        ("Data", ", ".join(numbers["data"])),
        ("Component", numbers["component"] or "unknown"),
        *settings_facts(numbers["settings"]),
        ("Spans key", numbers["spans_key"]),
        *((name, f"{numbers[name.lower()]:,}") for name in ("Documents", "Sentences", "Words", "Mentions")),
    ]
    items = "".join(f"<li>{name} <b>{escape(value)}</b></li>" for name, value in facts)
    lines = [f"<h1>{escape(numbers['model'])}</h1>", f'<ul class="facts">{items}</ul>']
    if numbers["unaligned"]:
        lines.append(
            f'<p class="note">{counted(numbers["unaligned"], "mention")} found with a border inside a token of the '
            "gold: not counted, as in spaCy's own scores.</p>"
        )
    return lines


# ---- scores ----


def _scores(numbers: dict[str, Any]) -> list[str]:
    names = {"all": "All mentions", "first_level": "First level", "nested": "Nested"}
    return [
        '<div class="cards">',
        *(_card(name, numbers["scores"][key]) for key, name in names.items()),
        "</div>",
        "<h2>Scores</h2>",
        '<p class="note">In percent. A mention is right if its span and its label are. Depth is one more than the '
        "number of other spans around a mention: mentions of depth 1 are on the first level, all others are nested. "
        "Recall of a level is the share of its gold mentions that were found, precision the share of mentions found on "
        "that level that are right.</p>",
        '<div class="side">',
        _score_table("Label", numbers["by_label"]),
        _score_table("Words in a mention", numbers["by_length"]),
        _score_table("Depth", numbers["by_depth"]),
        "</div>",
    ]


def _card(name: str, row: Row) -> str:
    precision, recall, f = score_cells(row)
    return (
        f'<div class="card"><p class="name">{name}</p><div class="f">{f} <small>F</small></div>'
        f"precision {precision} · recall {recall}<br>"
        f'<span class="note">{row["correct"]:,} right · {row["gold"]:,} gold · {row["predicted"]:,} found</span></div>'
    )


def _score_table(name: str, rows: dict[str, Row]) -> str:
    body = []
    for key, row in rows.items():
        numbers = "".join(f"<td>{cell}</td>" for cell in score_cells(row))
        bar = f'<td class="bar"><span style="width:{100 * row["f"]:.1f}%"></span></td>'
        body.append(
            f"<tr><th>{escape(key)}</th><td>{row['gold']:,}</td><td>{row['predicted']:,}</td>{numbers}{bar}</tr>"
        )
    header = ["gold", "found", "P", "R", "F", ""]
    return html_table([name, *header], body)


def _thresholds(numbers: dict[str, Any]) -> list[str]:
    rows, best, own = numbers["thresholds"], numbers["best_threshold"], numbers["scores"]["all"]
    if not rows:
        return []
    top = next(row for row in rows if row["threshold"] == best)
    # Where no gold mention is nested, there is no recall of nested ones.
    curves = [curve for curve in CURVES if curve[0] != "nested_r" or numbers["scores"]["nested"]["gold"]]
    keys = legend((name, color) for _, name, color in curves)
    return [
        "<h2>Precision and recall over the threshold</h2>",
        f"<p>The highest F on these data is {percent(top['f'])}, at threshold {best:.2f}; with its own settings the "
        f"pipeline has {percent(own['f'])}.</p>",
        '<div class="side">',
        figure(
            draw_precision_recall(rows, own),
            '<span class="diamond">◆</span> the pipeline with its own settings; dots are thresholds from '
            f"{rows[0]['threshold']:.2f} to {rows[-1]['threshold']:.2f}.",
        ),
        figure(draw_thresholds(rows, best, curves), f"{keys}<br>The dashed line is the threshold with the highest F."),
        "</div>",
    ]


# ---- confidence, confusion ----


def _calibration(numbers: dict[str, Any]) -> list[str]:
    calibration = numbers["calibration"]
    if calibration["ece"] is None:
        return []
    body = [
        f"<tr><th>{row['from']:.1f}–{row['to']:.1f}</th><td>{row['mentions']:,}</td>"
        f"<td>{percent(row['probability'])}</td><td>{percent(row['correct'])}</td></tr>"
        for row in calibration["bins"]
        if row["mentions"]
    ]
    return [
        "<h2>Calibration</h2>",
        f"<p>Expected calibration error: <b>{percent(calibration['ece'])} %</b>. This is the distance between the "
        "probability of mentions and the share of them that is right, on average. On as many mentions, exact "
        f"probabilities would have {percent(calibration['by_chance'])} % by chance, and more than "
        f"{percent(calibration['chance_limit'])} % in one of 100 cases.</p>",
        *_advice(numbers),
        '<div class="side">',
        figure(
            draw_calibration(calibration["bins"]),
            "Mentions found, in ten bins. Below the diagonal, they are right less often than their probability says. "
            "Bars and the sizes of points show how many mentions a bin has.",
        ),
        html_table(["Probability", "mentions", "mean, %", "right, %"], body),
        "</div>",
    ]


def _advice(numbers: dict[str, Any]) -> list[str]:
    advice = calibration_advice(numbers)
    if advice is None:
        return []
    text, command = advice
    shown = f"<pre>{escape(command)}</pre>" if command else ""
    return [f'<div class="advice"><p>{escape(text)}</p>{shown}</div>']


def _error_ranking(numbers: Row | None) -> list[str]:
    # One error, or one sentence, has no order.
    if not numbers or numbers["errors"] < 2 or numbers["segments"] < 2:
        return []
    orders = {"entropy": "highest entropy first", "length": "longest first", "best": "most errors first"}
    sentences, words = numbers["by_segments"], numbers["by_words"]
    body = ["<tr><th>in any order</th>" + "<td>50.0</td>" * 4 + "</tr>"]
    for order, name in orders.items():
        cells = (rows[order][key] for key in ("half", "area") for rows in (sentences, words))
        body.append(f"<tr><th>{name}</th>{''.join(f'<td>{percent(cell)}</td>' for cell in cells)}</tr>")
    keys = legend((orders[order], color) for order, color in ORDER_COLORS.items())
    return [
        "<h2>Errors found by reading the uncertain sentences first</h2>",
        f"<p>Half of the {numbers['errors']:,} errors, wrong and missed mentions, are in the "
        f"{percent(sentences['entropy']['half'])} % of {numbers['segments']:,} sentences with the highest entropy; "
        f"they have {percent(words['entropy']['half'])} % of the words.</p>",
        '<div class="side">',
        figure(draw_ranking(sentences, "sentences"), f"{keys}<br>The dashed line is a random order."),
        figure(draw_ranking(words, "words"), "The same, by words: long sentences take longer to read."),
        html_table(["Read", "half: sentences", "half: words", "area: sentences", "area: words"], body),
        "</div>",
        '<p class="note">In percent. Half: how much has been read when half of the errors are found. Area: below the '
        "curve. A document without sentence boundaries counts as one sentence. Most errors first is the best order "
        "there is; by words, it is most errors per word.</p>",
    ]


def _confusion(confusion: dict[str, Any]) -> list[str]:
    labels, counts = confusion["labels"], confusion["counts"]
    rows = []
    for gold in labels:
        total = sum(counts[gold].values()) + confusion["missed"][gold]
        cells = [_cell(counts[gold].get(found, 0), total, gold == found) for found in labels]
        cells.append(_cell(confusion["missed"][gold], total, False, "aside"))
        rows.append(f"<tr><th>{escape(gold)}</th>{''.join(cells)}</tr>")
    spurious = []
    for label in labels:
        total = confusion["spurious"][label] + sum(row.get(label, 0) for row in counts.values())
        spurious.append(_cell(confusion["spurious"][label], total, False))
    rows.append(f'<tr class="aside"><th>no mention (spurious)</th>{"".join(spurious)}<td class="aside"></td></tr>')
    header = "".join(f"<th>{escape(label)}</th>" for label in labels)
    return [
        "<h2>Confusion of labels</h2>",
        '<p class="note">Mentions on the same span: gold labels left, predicted labels above. Shades are shares of the '
        "mentions with a gold label; in the last row, with a predicted label.</p>",
        '<div class="wide"><table class="confusion">',
        f'<thead><tr><td></td>{header}<th class="aside">missed</th></tr></thead>',
        f"<tbody>{''.join(rows)}</tbody></table></div>",
    ]


def _cell(count: int, total: int, right: bool, name: str = "") -> str:
    if not count:
        return f'<td class="{name}"></td>'
    kind = "right" if right else "error"
    # Pale enough for the number to be readable.
    return f'<td class="{kind} {name}" style="--share:{0.06 + 0.5 * count / total:.2f}">{count:,}</td>'


# ---- errors ----


def _spurious(rows: Sequence[Row], classes: dict[str, str]) -> list[str]:
    if not rows:
        return []
    body = []
    for row in rows:
        gold = ", ".join(row["gold"]) or "–"
        body.append(
            f"<tr><td>{row['probability']:.2f}</td><td class=left>{draw_tag(row['label'], classes[row['label']])}</td>"
            f"<td class=left>{escape(gold)}</td><td class=text>{escape(row['text'])}</td>"
            f'<td class="where note">{escape(row["where"])}</td></tr>'
        )
    header = ["Probability", "predicted", "gold", "words", "where"]
    return [
        "<h2>Spurious mentions with the highest probability</h2>",
        '<p class="note">Some of them may be mistakes of the gold. Gold: labels on the same span.</p>',
        html_table(header, body, left=len(header)),
    ]


def _examples(rows: Sequence[Row], classes: dict[str, str]) -> list[str]:
    if not rows:
        return []
    labels = "".join(f"<li>{draw_tag(label, name)}</li>" for label, name in classes.items())
    marks = (
        f"<li>{draw_tag(MISSED, MISSED)} gold, not found</li><li>{draw_tag(SPURIOUS, SPURIOUS)} found, not gold</li>"
    )
    lines = [
        "<h2>Sentences with the most surprising errors</h2>",
        '<p class="note">Gold above the words, prediction below, with the probabilities that the pipeline gave '
        "them. The surprise of a sentence is the sum over its errors: −log₂ of the probability of what "
        "was missed, and of one minus the probability of what is spurious.</p>",
        f'<ul class="legend">{labels}{marks}</ul>',
    ]
    for row in rows:
        missed = sum(not mention["correct"] for mention in row["gold"])
        wrong = sum(not mention["correct"] for mention in row["predicted"])
        lines += [
            f'<div class="example"><div class="where"><span>{escape(row["where"])}</span>'
            f"<span>{missed} missed, {wrong} spurious · {row['surprise']:.1f} bits</span></div>",
            draw_html(Drawing.of_row(row), classes),
            "</div>",
        ]
    return lines
