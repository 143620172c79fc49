"""Style sheets of pages, whose colours have names."""

from __future__ import annotations

from polars_prcurve.view.charts.parts.colors_and_sizes import COLORS, INK, OTHERS, QUIET, RULE

# The fonts of most systems, each as wide as the first, and one with letters of all scripts.
FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'Noto Sans', sans-serif"
# Colours of groups on a dark ground, each with the hue of its own in `COLORS`: they have 3 : 1, and any
# two stay apart for all eyes.
DARK_COLORS = ("#4FA8EA", "#FF8B45", "#72E4D2", "#805FE9", "#FC3C78", "#845496", "#965424", "#FCCC96")
_GROUP_COLORS = zip(COLORS, DARK_COLORS, strict=True)  # on a light ground, and on a dark one
_SCHEME = (  # the name of each colour, and what it is on a light and on a dark ground
    *((f"--c{n}", light, dark) for n, (light, dark) in enumerate(_GROUP_COLORS)),
    ("--text", INK, "#F0F2F4"),
    ("--quiet", QUIET, "#A9B1BB"),
    ("--rule", RULE, "#7B838D"),
    ("--others", OTHERS, "#474D55"),
    ("--grid", "#E6E8EB", "#2A2F36"),
    ("--ground", "#FFFFFF", "#15181D"),
)


def build_scheme() -> str:
    """Return the style sheet of colours, for light and for dark screens."""
    light_colors = ";".join(f"{name}:{color}" for name, color, _ in _SCHEME)
    dark_colors = ";".join(f"{name}:{color}" for name, _, color in _SCHEME)
    return (
        f":root{{color-scheme:light dark;{light_colors}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark_colors}}}}}\n"
    )


DECISION_STYLE = (
    build_scheme()
    + """
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 FONT;overflow-wrap:anywhere}
main{max-width:780px;margin:0 auto;padding:28px 20px 60px}
svg:not(.marks){max-width:100%;height:auto}svg:not(.marks) text{font-family:FONT;fill:var(--text)}
svg .quiet{fill:var(--quiet)}svg .strong{font-weight:700}
svg .rim{paint-order:stroke;stroke:var(--ground);stroke-width:4px;stroke-linejoin:round}
.hidden{position:absolute;width:0;height:0}.small{display:none}
.place,.note,.key{font-size:14px;color:var(--quiet);margin:0}.note,.key{font-size:13px}
.note{margin-top:4px}
.status{display:inline-block;font-size:13px;font-weight:700;padding:2px 10px;border-radius:11px;
  border:2px dotted var(--text);margin:12px 0 0}
.status.settled{border:2px solid var(--text);background:var(--text);color:var(--ground)}
h1{font-size:30px;line-height:1.22;margin:8px 0 18px;letter-spacing:-.2px;text-wrap:balance}
h2{font-size:18px;line-height:1.3;margin:34px 0 2px}
.models{display:grid;grid-template-columns:repeat(2,1fr);gap:28px}
h2+.place{margin-bottom:8px}.model{border-top:4px solid var(--c,var(--rule));padding-top:10px}
.model h3{margin:0 0 8px;font-size:15px;color:var(--c,var(--text))}
.model>div{display:grid;grid-template-columns:176px 1fr;gap:18px;align-items:start}
dl{margin:0}dt{font-size:12.5px;color:var(--quiet);line-height:1.25;margin-top:11px}
dt:first-child{margin-top:0}dd{margin:0;font-size:21px;font-weight:700;line-height:1.25}
dd small{display:block;font-size:13px;font-weight:400;color:var(--quiet)}
dd small+small{display:block}
.key{margin:14px 0 0}.key svg{vertical-align:-2px;margin:0 3px 0 10px}.key svg:first-child{margin-left:0}
.settle{border-left:3px solid var(--text);padding:2px 0 2px 14px;margin:8px 0 0}
.reasons{margin:10px 0 0;padding-left:18px;font-size:14px}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
details{border-top:1px solid var(--grid);padding:10px 0}
details:last-of-type{border-bottom:1px solid var(--grid)}
summary{cursor:pointer;font-weight:700;font-size:15px;min-height:28px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
td,th{text-align:right;padding:5px 8px;border-bottom:1px solid var(--grid);
  font-variant-numeric:tabular-nums;font-weight:400;white-space:nowrap}
td:first-child,th:first-child{text-align:left}td:first-child,th:first-child{padding-left:0}
tbody th{white-space:normal}th,td{overflow-wrap:break-word}
.names{margin:4px 0 0;padding:0;overflow:hidden;font-size:14px;font-weight:700;list-style:none}
.names li{float:left;margin-right:24px}
.names li::before{content:"";display:inline-block;width:12px;height:12px;margin-right:6px;
  vertical-align:-1px;background:currentColor}
thead th{color:var(--quiet)}td small{color:var(--quiet);font-size:12.5px}
.raw th:first-child{min-width:12em}
.raw{font-size:12px}
footer{font-size:13px;color:var(--quiet);margin-top:20px}
:focus-visible{outline:3px solid var(--c0);outline-offset:2px}
@media(max-width:640px){main{padding:18px 16px 40px}h1{font-size:24px;margin-bottom:14px}
.models{grid-template-columns:1fr;gap:18px}
.wide{display:none}.small{display:inline}
.model>div{grid-template-columns:140px 1fr;gap:16px}dt{margin-top:6px}dd{font-size:18px}
dd small{display:inline}
table{font-size:14px}th,td{overflow-wrap:anywhere}thead{display:none}table,tbody{display:block}
tr{display:flex;flex-wrap:wrap;gap:0 12px;padding:8px 0;border-bottom:1px solid var(--grid)}
tr>th:first-child{flex:1 1 50%;order:-2;border:0;padding:1px 0;font-weight:700}
td[data-name=""],td[data-name=verdict]{flex:none;order:-1}
td{display:flex;flex:1 0 100%;justify-content:space-between;
gap:4px 12px;border:0;padding:1px 0;white-space:normal}
td::before{content:attr(data-name);color:var(--quiet);text-align:left}}
@media print{@page{size:A4;margin:10mm 14mm}main{padding:0;max-width:none}
body{font-size:9pt;line-height:1.35}h1{font-size:14pt;margin:4pt 0 8pt}
.status{margin-top:6px}.settle,.reasons{margin:4pt 0 0}h2+.place{margin-bottom:2pt}
h2{font-size:11pt;margin:9pt 0 2pt}.model{padding-top:4pt}.model h3{margin:0 0 4pt}.key{margin-top:6pt}
h2,summary{break-after:avoid}.models,.chart,.settle,.model,tr{break-inside:avoid}
.place,.note,.key,.reasons,.status,.names,.model h3,table,td,th,footer{font-size:8.5pt}
dl{display:grid;grid-template-columns:1fr auto;gap:2pt 6pt;align-items:baseline}dt,.note{margin:0}
dt,td small,dd small{font-size:8pt}dd small{display:inline}
dd{font-size:12pt}.model>div{grid-template-columns:102px 1fr}
td,th{padding:1pt 5px}
.chart svg.wide{max-height:52mm;width:auto}.scroll+.chart svg.wide{max-height:46mm}
.chart svg.rows{max-height:none}details p{display:inline}details p::after{content:" "}
details{padding:2pt 0;font-size:7.5pt}summary{list-style:none;font-size:8.5pt;min-height:0}
details::details-content{content-visibility:visible;display:block}footer{margin-top:6pt}
.screen,.scroll:has(.raw){display:none}}
""".replace("FONT", FONT)
)
"""Of reports and pages to move: for wide, narrow, dark and paper."""


PARTS_STYLE = (
    DECISION_STYLE
    + """
p,li{max-width:46rem}p{margin:10px 0}h2{font-size:22px}h3{font-size:18px;margin:28px 0 4px}
figure{margin:30px 0;background:#fff;color:#1a1d21}figcaption{margin:8px 0 12px}
figure img{max-width:100%}figure.on img{display:none}
.live{max-width:100%;overflow-x:auto;background:#fff}figure:not(.on) .live{height:0;overflow:hidden}
.vega-embed{width:100%}.vega-bindings{font-size:14px;margin:10px 0 0}
.vega-bindings select{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--rule);
  border-radius:3px;padding:3px 6px}
.scroll{margin:12px 0}.own{width:auto;font-size:13px}.own .text{text-align:left}
.own td,.own tbody th{white-space:normal;max-width:22rem}
ul{padding-left:20px}
caption{text-align:left;color:var(--quiet);font-size:14px;padding-bottom:6px}
caption span{display:block;max-width:min(46rem,100vw - 32px)}
@media(max-width:640px){caption{display:block}}
@media print{h1{font-size:22pt}h2{font-size:15pt}figure.on img{display:inline}
figure .live{display:none}figure,li{break-inside:avoid}
h3,figcaption,caption{break-after:avoid}.scroll{overflow:visible}
.many thead{display:none}.many tr{display:flex;flex-wrap:wrap;gap:0 14px;padding:4px 0;
  border-bottom:1px solid var(--grid)}.many td,.many tbody th{display:block;border:0}
.many td::before{content:attr(data-name) "\\a0";color:var(--quiet)}}
"""
)
"""Of pages of one's own parts."""
