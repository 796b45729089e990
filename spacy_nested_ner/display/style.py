"""The style sheet of the page."""

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1120px; padding: 32px 28px 64px; background: #fff; color: #1d2329;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 19px; margin: 44px 0 6px; padding-top: 10px; border-top: 2px solid #1d2329; }
h3 { font-size: 15px; margin: 22px 0 6px; }
p { max-width: 78ch; margin: 4px 0 10px; }
.note { color: #59636e; font-size: 14px; }
.facts { display: flex; flex-wrap: wrap; gap: 2px 26px; margin: 10px 0 20px; padding: 0; list-style: none; }
.facts b { font-variant-numeric: tabular-nums; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); gap: 14px; }
.card { border: 1px solid #d5dbe1; border-radius: 8px; padding: 12px 16px; }
.card h3 { margin: 0; font-weight: 600; color: #59636e; }
.card .f { font-size: 34px; font-weight: 650; line-height: 1.2; font-variant-numeric: tabular-nums; }
.card .f small { font-size: 14px; font-weight: 400; color: #59636e; }
.side { display: flex; flex-wrap: wrap; gap: 10px 40px; align-items: flex-start; }
.side > * { min-width: 0; }
figure { margin: 8px 0; }
figcaption { font-size: 14px; max-width: 324px; color: #59636e; }
svg { max-width: 100%; height: auto; }
svg text { font-size: 12px; fill: #59636e; }
svg text.axis { font-size: 13px; fill: #1d2329; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #e6eaee; white-space: nowrap; }
th { font-weight: 600; color: #59636e; }
tbody th, td.left, th.left { text-align: left; }
tbody th { color: #1d2329; }
td.bar { min-width: 110px; padding: 3px 4px; }
td.bar span { display: block; height: 11px; background: #2b5c8a; border-radius: 2px; }
td.text { text-align: left; white-space: normal; }
.wide { overflow-x: auto; }
.confusion td { text-align: center; min-width: 46px; }
.confusion .error { background: rgba(200, 16, 46, var(--share)); }
.confusion .right { background: rgba(43, 92, 138, var(--share)); }
.confusion td.aside, .confusion th.aside { border-left: 2px solid #aab4bd; }
.confusion tr.aside > * { border-top: 2px solid #aab4bd; }
.key { display: inline-block; width: 22px; height: 3px; vertical-align: 4px; margin-right: 5px; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 12px; margin: 10px 0 16px; padding: 0; list-style: none;
  font-size: 13px; align-items: center; }
.legend .m { display: inline-block; height: auto; padding: 1px 9px; font-size: 12px; margin: 0 4px 0 0; }
.example { margin: 0 0 18px; padding: 8px 14px 12px; border: 1px solid #d5dbe1; border-radius: 8px;
  break-inside: avoid; }
.example header { display: flex; justify-content: space-between; gap: 12px; font-size: 13px; color: #59636e;
  margin-bottom: 4px; }
.sentence { display: flex; flex-wrap: wrap; row-gap: 10px; }
.w { display: flex; flex-direction: column; min-width: 0; }
.w b { font-weight: 400; font-size: 15px; padding: 1px 3px; white-space: pre; }
.w i { display: block; position: relative; height: 18px; margin: 1px 0; }
i, s, u { font-style: normal; text-decoration: none; }
.m { border: 1.5px solid transparent; border-width: 1.5px 0; font-size: 11px; line-height: 14px; white-space: nowrap; }
.m.start { border-left-width: 1.5px; border-radius: 4px 0 0 4px; margin-left: 1px; }
.m.end { border-right-width: 1.5px; border-radius: 0 4px 4px 0; margin-right: 1px; }
.m.start.end { border-radius: 4px; }
.m s { padding: 0 4px; font-weight: 600; }
.m u { font-weight: 400; }
.m s.over { position: absolute; left: 0; top: 0; z-index: 1; }
.m.missed { background-image: linear-gradient(rgba(255, 255, 255, .6), rgba(255, 255, 255, .6));
  border-color: #39424c; border-style: dashed; }
.m.spurious { border-color: #c8102e; border-width: 2px 0; color: #a00d25; line-height: 13px; }
.m.spurious.start { border-left-width: 2px; }
.m.spurious.end { border-right-width: 2px; }
@media print {
  body { max-width: none; padding: 0; zoom: .72; }
  h2, h2 + p { break-after: avoid; } table, figure, .card { break-inside: avoid; }
}
"""
