"""The style sheet of a page, and the script that starts its live charts."""

from __future__ import annotations

from polars_prcurve.report.page_colors import FONT

START_SCRIPT = """
for (const figure of document.querySelectorAll("figure")) {
  const data = figure.querySelector("script"), image = figure.querySelector("img");
  if (!data) continue;
  const spec = JSON.parse(data.textContent), moving = JSON.stringify(spec).includes('"bind":{');
  if (image && !moving && image.naturalWidth > figure.clientWidth) continue;
  const section = figure.closest("section");
  if (section) section.hidden = false;
  const place = document.createElement("div");
  place.className = "live";
  figure.insertBefore(place, image);
  const options = {mode: "vega-lite", actions: false, ast: true, renderer: "svg"};
  window.vegaEmbed(place, spec, options).then(
    () => figure.classList.add("on"), () => section ? section.hidden = true : place.remove());
}
"""

STYLE = (
    """
*{box-sizing:border-box} [hidden]{display:none}
body{margin:0;font:16px/1.55 FONT;color:var(--text);background:var(--ground);overflow-wrap:anywhere;
  -webkit-text-size-adjust:100%}
main{max-width:780px;margin:0 auto;padding:36px 20px 72px}
h1{font-size:34px;line-height:1.15;letter-spacing:-.01em;margin:6px 0 10px}
h2{font-size:22px;line-height:1.25;margin:48px 0 8px} h3{font-size:18px;line-height:1.3;
  margin:28px 0 4px}
p{margin:10px 0} p,li{max-width:46rem} li{margin:8px 0} ul{padding-left:20px}
a{color:var(--c0)}
  :is(a,summary,svg,.wide):focus-visible{outline:2px solid var(--c0);outline-offset:3px}
.meta,figcaption p{color:var(--quiet);font-size:14px} .meta{margin:0} .note{color:var(--quiet);
  font-size:13px}
.toc{display:flex;flex-wrap:wrap;gap:4px 18px;margin:18px 0 28px;padding:10px 0;font-size:14px;
  border-top:1px solid var(--grid);border-bottom:1px solid var(--grid)} .toc a{text-decoration:none}
.eyebrow{font-size:13px;font-weight:600;letter-spacing:.04em;text-transform:uppercase;
  color:var(--quiet);margin:0}
.decision{border:1px solid var(--grid);border-top:4px solid var(--c0);border-radius:4px;
  padding:20px 26px 16px;
  margin:0 0 34px}
.decision h2{font-size:27px;margin:4px 0 16px;line-height:1.2} .who{color:var(--c,var(--c0));
  font-weight:700}
.values{display:grid;grid-template-columns:repeat(4,auto);gap:14px 18px;margin:0 0 20px}
.values div{border-left:1px solid var(--grid);padding-left:16px;display:flex;flex-direction:column;
  justify-content:space-between} .values div:first-child{border:0;
  padding:0}
.values dt,.values dd{font-size:13px;color:var(--quiet);margin:0}
.values b{display:block;font-size:26px;line-height:1.2;color:var(--text);white-space:nowrap;
  letter-spacing:-.01em}
.bars-title{font-size:13px;font-weight:600;color:var(--quiet);margin:0} .bars{list-style:none;padding:0;
  margin:6px 0 18px}
.bars li{display:grid;grid-template-columns:minmax(110px,170px) 1fr minmax(150px,auto);gap:12px;
  align-items:center;
  font-size:14px;margin:7px 0;max-width:none}
.bars li>span:first-child{font-weight:700} .all,.right{display:block;height:18px;border-radius:2px}
.all{position:relative;overflow:hidden;min-width:2px} .all::before{content:"";position:absolute;inset:0;
  background:var(--c,var(--c0));opacity:.28} .right{position:relative;background:var(--c,var(--c0));
  min-width:3px}
.num,td{font-variant-numeric:tabular-nums} .ci{color:var(--quiet);font-weight:400;font-size:13px}
.but{border-left:3px solid var(--c1);padding-left:14px;font-size:15px}
.promise{border-left:3px solid var(--c2);padding-left:14px;font-size:15px}
figure{margin:30px 0} figure h3{margin:0} figcaption{margin:0 0 12px} figcaption p{margin:2px 0 0}
svg.wide,svg.small{display:block;width:100%;height:auto;overflow:visible;font-family:FONT}
  svg.small{display:none}
svg.wide *,svg.small *{pointer-events:none} svg .reading{pointer-events:stroke;stroke:var(--text);
  opacity:0} svg .reading:hover,svg .at{opacity:.1}
  svg:focus:not(:focus-visible){outline:0}
.reading-box{position:absolute;z-index:1;max-width:min(27rem,94vw);padding:6px 10px;font-size:13px;
  line-height:1.45;pointer-events:none;background:var(--ground);border:1px solid var(--rule);
  border-radius:4px;box-shadow:0 2px 8px #0003;font-variant-numeric:tabular-nums}
.reading-box div:first-child{font-weight:600}
.own img{max-width:100%;height:auto} .own{background:#fff;color:#1a1d21} .own figcaption{margin-top:8px}
figure.on img{display:none} .live{max-width:100%;overflow-x:auto} .own .live{background:#fff}
figure.own:not(.on) .live{height:0;overflow:hidden}
.vega-bindings{font-size:14px;margin:10px 0 0} .vega-bindings select{font:inherit;color:inherit;
  background:var(--ground);border:1px solid var(--rule);border-radius:3px;padding:3px 6px}
.vega-embed{width:100%}
.wide{overflow-x:auto;margin:12px 0;background:
  linear-gradient(to right,var(--ground) 40%,transparent) 0 0/36px 100%,
  linear-gradient(to left,var(--ground) 40%,transparent) 100% 0/36px 100%,
  linear-gradient(to right,#8886,transparent) 0 0/12px 100%,
  linear-gradient(to left,#8886,transparent) 100% 0/12px 100%;
  background-repeat:no-repeat;background-attachment:local,local,scroll,scroll}
svg.wide{overflow:visible;margin:0;background:none}
table{border-collapse:collapse;width:100%;font-size:14.5px} caption{text-align:left;color:var(--quiet);
  font-size:14px;
  padding-bottom:6px}
th,td{overflow-wrap:break-word;padding:7px 10px;text-align:left;vertical-align:baseline;
  border-bottom:1px solid var(--grid);
  font-weight:400}
thead th{font-weight:600;border-bottom:1.5px solid var(--text)}
  thead th:not(:first-child){padding-left:10px}
th:first-child{padding-left:0} .number{text-align:right} td .ci,th .ci{display:block}
  .number{white-space:nowrap}
thead .number{white-space:normal} th[scope=row]{min-width:6rem;max-width:22rem}
.group th{font-weight:600;padding-top:18px;border:0;color:var(--quiet);font-size:13px}
.doubt{color:var(--quiet)} sup{line-height:0;font-size:.8em}
details{border-top:1px solid var(--grid);padding:12px 0}
  details:last-of-type{border-bottom:1px solid var(--grid)}
summary{cursor:pointer;font-weight:600}
caption span{display:block;max-width:46rem} div.wide+div.wide{margin-top:28px}
table.short{width:auto} .short td,.short th{padding-right:40px}
table.raw{font-size:12.5px;width:auto} .raw td,.raw th{padding:3px 9px;max-width:22rem;
  overflow-wrap:break-word}
.raw td{white-space:normal} .raw .number{white-space:nowrap}
@media screen and (max-width:720px){
main{padding:22px 16px 60px} h1{font-size:27px} .decision{padding:16px 16px 12px;margin-inline:-4px}
.decision h2{font-size:22px} .values{grid-template-columns:1fr 1fr} .values div:nth-child(odd){border:0;
  padding:0}
.values b{font-size:23px} .bars li{grid-template-columns:1fr auto;gap:2px 12px;margin:12px 0}
.track{grid-row:2;grid-column:1/-1} .num{text-align:right} svg.wide{display:none}
  svg.small{display:block}
table:not(.raw){font-size:14px} th,td{padding:7px 5px} .ci{font-size:12px}
.wide th:first-child{position:sticky;left:0;background:var(--ground);max-width:34vw;min-width:5rem}
.wide td .ci{white-space:normal} caption span{max-width:calc(100vw - 4.6rem)}
.group th:first-child{max-width:none;position:static}
}
@media screen and (max-width:560px){
.cards thead{display:none} .cards,.cards tbody,.cards caption{display:block}
.cards tr{display:block;padding:8px 0;border-bottom:1px solid var(--grid)}
.cards tr>th:first-child{display:block;max-width:none;border:0;padding:2px 0;font-weight:600;
  position:static}
.cards td{display:flex;justify-content:space-between;gap:4px 12px;flex-wrap:wrap;border:0;
  padding:2px 0;text-align:right}
.cards td::before{content:attr(data-name);color:var(--quiet);flex:1;text-align:left;
  white-space:normal}
.cards td .ci{flex-basis:100%}
}
@page{size:A4;margin:16mm 15mm}
@media print{
:root{color-scheme:light} body{font-size:10pt;line-height:1.4} main{max-width:none;padding:0}
.toc,.live-part,details.raw{display:none} h1{font-size:22pt} h2{font-size:15pt;margin-top:20pt}
  h2,h3{break-after:avoid}
.decision{margin-top:12pt;padding:12pt 16pt 8pt} .decision h2{margin-top:2pt} th,td{padding:4px 8px}
table:not(.raw){font-size:9.5pt} .values{grid-template-columns:repeat(4,auto)}
figure,.decision,li,tr{break-inside:avoid} figcaption,caption{break-after:avoid}
.wide{overflow:visible;background:none} .reading,.reading-box{display:none}
table.raw{width:100%;font-size:7.5pt} .raw td,.raw th{padding:2px 3px}
.raw thead th{overflow-wrap:anywhere}
.many thead{display:none} .many tr{display:flex;flex-wrap:wrap;gap:0 14px;padding:4px 0;
  border-bottom:1px solid var(--grid)} .many td{display:block;border:0}
.many td::before{content:attr(data-name) "\\a0";color:var(--quiet)}
svg.wide{display:block} svg.small{display:none} figure.on img{display:inline} .own .live{display:none}
details::details-content{content-visibility:visible;block-size:auto;opacity:1} summary{list-style:none}
.all::before,.right{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""
).replace("FONT", FONT)
