"""The style sheet of a page, and the script that starts its live charts."""

from __future__ import annotations

from polars_prcurve.report.page_colors import FONT

START_SCRIPT = """
for (const figure of document.querySelectorAll("figure")) {
  const data = figure.querySelector("script"), image = figure.querySelector("img");
  if (!data) continue;
  const spec = JSON.parse(data.textContent), moving = JSON.stringify(spec).includes('"bind":{');
  if (!moving && image.naturalWidth > figure.clientWidth) continue;
  const place = document.createElement("div");
  place.className = "live";
  figure.insertBefore(place, image);
  const options = {mode: "vega-lite", actions: false, ast: true, renderer: "svg"};
  window.vegaEmbed(place, spec, options).then(() => figure.classList.add("on"), () => place.remove());
}
"""

STYLE = """
*{box-sizing:border-box} [hidden]{display:none}
body{margin:0;font:16px/1.55 FONT;color:var(--text);background:var(--ground);overflow-wrap:anywhere;
  -webkit-text-size-adjust:100%}
main{max-width:780px;margin:0 auto;padding:36px 20px 72px}
h1{font-size:34px;line-height:1.15;letter-spacing:-.01em;margin:6px 0 10px}
h2{font-size:22px;line-height:1.25;margin:48px 0 8px}
h3{font-size:18px;line-height:1.3;margin:28px 0 4px}
p{margin:10px 0} p,li{max-width:46rem} li{margin:8px 0} ul{padding-left:20px}
.wide:focus-visible{outline:2px solid var(--c0);outline-offset:3px}
figure{margin:30px 0;background:#fff;color:#1a1d21} figcaption{margin:8px 0 12px}
figure img{max-width:100%;height:auto} figure.on img{display:none}
.live{max-width:100%;overflow-x:auto;background:#fff} figure:not(.on) .live{height:0;overflow:hidden}
.vega-embed{width:100%} .vega-bindings{font-size:14px;margin:10px 0 0}
.vega-bindings select{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--rule);
  border-radius:3px;padding:3px 6px}
.wide{overflow-x:auto;margin:12px 0;background:
  linear-gradient(to right,var(--ground) 40%,transparent) 0 0/36px 100%,
  linear-gradient(to left,var(--ground) 40%,transparent) 100% 0/36px 100%,
  linear-gradient(to right,#8886,transparent) 0 0/12px 100%,
  linear-gradient(to left,#8886,transparent) 100% 0/12px 100%;
  background-repeat:no-repeat;background-attachment:local,local,scroll,scroll}
.wide+.wide{margin-top:28px}
table{border-collapse:collapse;font-size:12.5px;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--quiet);font-size:14px;padding-bottom:6px}
caption span{display:block;max-width:46rem}
th,td{overflow-wrap:break-word;padding:3px 9px;text-align:left;vertical-align:baseline;max-width:22rem;
  border-bottom:1px solid var(--grid);font-weight:400}
th{font-weight:600;border-bottom:1.5px solid var(--text)} th:first-child,td:first-child{padding-left:0}
.number{text-align:right} td.number{white-space:nowrap}
@media screen and (max-width:720px){
main{padding:22px 16px 60px} h1{font-size:27px} caption span{max-width:calc(100vw - 4.6rem)}
th:first-child,td:first-child{position:sticky;left:0;background:var(--ground);max-width:34vw}
}
@page{size:A4;margin:16mm 15mm}
@media print{
:root{color-scheme:light} body{font-size:10pt;line-height:1.4} main{max-width:none;padding:0}
h1{font-size:22pt} h2{font-size:15pt;margin-top:20pt} h2,h3,figcaption,caption{break-after:avoid}
figure,li,tr{break-inside:avoid} figure.on img{display:inline} figure .live{display:none}
.wide{overflow:visible;background:none} table{width:100%;font-size:7.5pt} th,td{padding:2px 3px}
th{overflow-wrap:anywhere}
.many thead{display:none} .many tr{display:flex;flex-wrap:wrap;gap:0 14px;padding:4px 0;
  border-bottom:1px solid var(--grid)} .many td{display:block;border:0}
.many td::before{content:attr(data-name) "\\a0";color:var(--quiet)}
}
""".replace("FONT", FONT)
