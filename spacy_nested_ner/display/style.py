"""The style sheet of the page: light or dark, as the reader's system is; always light in print."""

STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1d2329; --soft: #59636e; --line: #e6eaee; --frame: #d5dbe1;
  --rule: #aab4bd; --axis: #666; --blue: #2b5c8a; --orange: #c77d11; --green: #6b9a3a; --gray: #9aa5ae; --red: #c8102e;
  --bar: #dbe5ee; --right-cell: 43, 92, 138;
  --error-cell: 200, 16, 46; --advice: #fdf3dc; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #14181d; --ink: #e8edf2; --soft: #a3adb8; --line: #2b323a; --frame: #3a434d;
    --rule: #56616c; --axis: #8b96a1; --blue: #6fb1ea; --orange: #e5a844; --green: #9ccb6a; --gray: #7d8893;
    --red: #ff6b7d; --bar: #26384a; --right-cell: 80, 150, 215;
    --error-cell: 235, 70, 95; --advice: #3a2f14; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1120px; padding: 32px 28px 64px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 44px 0 6px; padding-top: 10px; border-top: 2px solid var(--ink); }
p { max-width: 78ch; margin: 4px 0 10px; }
.note { color: var(--soft); font-size: 14px; }
.facts { display: flex; flex-wrap: wrap; gap: 2px 26px; margin: 10px 0 20px; padding: 0; list-style: none; }
.facts li { min-width: 0; overflow-wrap: anywhere; }
.facts b { font-variant-numeric: tabular-nums; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); gap: 14px; }
.card { border: 1px solid var(--frame); border-radius: 8px; padding: 12px 16px; }
.card .name { margin: 0; font-weight: 600; color: var(--soft); }
.card .f { font-size: 34px; font-weight: 650; line-height: 1.2; font-variant-numeric: tabular-nums; }
.card .f small { font-size: 14px; font-weight: 400; color: var(--soft); }
.advice { border-left: 4px solid var(--orange); background: var(--advice); padding: 8px 14px; margin: 10px 0 16px;
  border-radius: 0 6px 6px 0; }
.advice pre { margin: 6px 0 2px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
.side { display: flex; flex-wrap: wrap; gap: 10px 40px; align-items: flex-start; }
.side > * { min-width: 0; max-width: 100%; }
figure { margin: 8px 0; }
figcaption { font-size: 14px; max-width: 324px; color: var(--soft); }
.diamond { color: var(--red); }
svg { max-width: 100%; height: auto; }
svg text { font-size: 12px; fill: var(--soft); }
svg text.axis { font-size: 13px; fill: var(--ink); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; color: var(--soft); }
tbody th, td.left, th.left { text-align: left; }
tbody th { color: var(--ink); }
td.bar { min-width: 110px; padding: 3px 4px; }
td.bar span { display: block; height: 11px; background: var(--blue); border-radius: 2px; }
td.text { text-align: left; white-space: normal; min-width: 200px; }
td.where { text-align: left; }
.wide { overflow-x: auto; max-width: 100%; }
.wide tbody th { position: sticky; left: 0; background: var(--page); }
.confusion td { text-align: center; min-width: 46px; }
.confusion .error { background: rgba(var(--error-cell), var(--share)); }
.confusion .right { background: rgba(var(--right-cell), var(--share)); }
.confusion td.aside, .confusion th.aside { border-left: 2px solid var(--rule); }
.confusion tr.aside > * { border-top: 2px solid var(--rule); }
.keys span { white-space: nowrap; }
.key { display: inline-block; width: 22px; height: 3px; vertical-align: 4px; margin-right: 5px; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 12px; margin: 10px 0 16px; padding: 0; list-style: none;
  font-size: 13px; align-items: center; }
.example { margin: 0 0 18px; padding: 8px 14px 12px; border: 1px solid var(--frame); border-radius: 8px;
  break-inside: avoid; }
.example .where { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 12px; font-size: 13px;
  color: var(--soft); margin-bottom: 4px; overflow-wrap: anywhere; }
@media (max-width: 560px) {
  body { padding: 20px 14px 48px; }
  th, td { padding: 3px 5px; }
  table { font-size: 13px; }
  .bar { display: none; }
  thead th, tbody th { white-space: normal; vertical-align: bottom; }
  .example { padding: 8px 10px 12px; }
}
@media print {
  body { max-width: none; padding: 0; zoom: .72; }
  h2, h2 + p { break-after: avoid; } table, figure, .card { break-inside: avoid; } .wide { overflow: visible; }
}
"""
