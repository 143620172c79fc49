"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const state = {model: data.model, row: data.row, eta: data.place, alert: 1, miss: data.miss};

function evaluate([threshold, ...rates], eta) {
  const [recall, recallLow, recallHigh, fpr, fprLow, fprHigh] = rates;
  const pay = (r, f) => data.per * (state.alert * f * (1 - eta) + state.miss * (1 - r) * eta);
  const point = computePoint(rates, eta, data.per), cost = pay(recall, fpr);
  if (point.alertsLow === null) return {threshold, ...point, cost, costLow: cost, costHigh: cost};
  const costs = (r, f) => Math.hypot(cost - pay(r, fpr), cost - pay(recall, f));
  return {threshold, ...point, cost, costLow: cost - costs(recallHigh, fprLow), costHigh: cost + costs(recallLow, fprHigh)};
}

// As few digits as tell a score from its neighbours.
function shorten(rows, number) {
  const value = rows[number][0];
  if (typeof value !== "number") return String(value);
  const near = [rows[number - 1], rows[number + 1]].filter(Boolean).map((row) => row[0]);
  for (let digits = 2; digits < 16; digits++) {
    const said = value.toPrecision(digits);
    if (near.every((other) => other === value || other.toPrecision(digits) !== said)) return String(Number(said));
  }
  return String(value);
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(state)) {
    const number = Number(said.get(key));
    if (said.has(key) && Number.isFinite(number) && number >= 0) state[key] = number;
  }
  const keep = (n, most) => Math.min(Math.max(Math.round(n), 0), most);
  state.model = keep(state.model, data.models.length - 1);
  state.row = keep(state.row, data.models[state.model].rows.length - 1);
  state.eta = keep(state.eta, data.etas.length - 1);
}

function writeAddress() {
  const said = Object.entries(state).map(([key, value]) => `${key}=${value}`).join("&");
  history.replaceState(null, "", "#" + said);
  draw();
}

function drawCosts(points, color) {
  const wide = 640, high = 190, eta = data.etas[state.eta], last = points.length - 1;
  const none = state.miss * data.per * eta, all = state.alert * data.per * (1 - eta);
  const here = points[state.row], reference = Math.min(none, all);
  const top = 1.08 * Math.max(Math.min(Math.max(none, all), 4 * reference), here.cost);
  const x = (n) => 70 + (last ? n / last : 0) * (wide - 80);
  const y = (cost) => 10 + (1 - Math.min(Math.max(cost, 0) / (top || 1), 1)) * (high - 40);
  const line = (read) => points.map((point, n) => `${x(n).toFixed(1)},${y(read(point)).toFixed(1)}`);
  const ink = `var(--c${color})`, shapes = [];
  const band = [...line((p) => p.costLow), ...line((p) => p.costHigh).reverse()].join(" ");
  shapes.push(shape("polygon", {points: band, style: `fill:${ink}`, opacity: 0.16}));
  shapes.push(shape("polyline", {points: line((p) => p.cost).join(" "), fill: "none", style: `stroke:${ink}`,
    "stroke-width": 2.4}));
  for (const [level, name] of [[none, "no alerts"], [all, "alert on all"]]) {
    if (level > top) continue;
    shapes.push(shape("line", {x1: 70, x2: wide - 10, y1: y(level), y2: y(level), style: "stroke:var(--rule)"}));
    shapes.push(shape("text", {x: 76, y: y(level) - 5, "font-size": 12, class: "quiet rim"}, name));
  }
  shapes.push(shape("line", {x1: x(state.row), x2: x(state.row), y1: 10, y2: high - 30, style: "stroke:var(--text)"}));
  shapes.push(shape("circle", {cx: x(state.row), cy: y(here.cost), r: 5, style: `fill:${ink};stroke:var(--ground)`}));
  const small = {"font-size": 12, class: "quiet"};
  shapes.push(shape("text", {x: 62, y: 18, "text-anchor": "end", ...small}, two(top)));
  shapes.push(shape("text", {x: 62, y: high - 28, "text-anchor": "end", ...small}, "0"));
  shapes.push(shape("text", {x: 70, y: high - 8, ...small}, "high scores"));
  shapes.push(shape("text", {x: wide - 10, y: high - 8, "text-anchor": "end", ...small}, "low scores"));
  find("costs").replaceChildren(...shapes);
  const doing = none <= all ? "no alerts at all" : "an alert on every case";
  const isBelow = here.costHigh < reference, isAbove = here.costLow > reference;
  find("cheaper").textContent = isBelow ? `Cheaper than ${doing}, by the interval of its costs.`
    : isAbove ? `Dearer than ${doing}, by the interval of its costs.` : `Not shown to be cheaper than ${doing}.`;
  const cheapest = points.reduce((best, point, n) => point.cost < points[best].cost ? n : best, 0);
  find("go").onclick = () => { state.row = cheapest; writeAddress(); };
}

function draw() {
  const {name, color, rows} = data.models[state.model], eta = data.etas[state.eta];
  const points = rows.map((row) => evaluate(row, eta)), point = points[state.row];
  const score = shorten(rows, state.row), known = point.recallLow !== null;
  const from = data.hasScores ? `From score ${score} up, ` : "", value = point.value ?? 0;
  find("say").textContent = `${from}${sayRight(point)}, ${sayWhere(eta)}`;
  const drawn = {...point, value, low: point.low ?? value, high: point.high ?? value};
  drawIcons(find("icons"), drawn, color, find("say").textContent);
  find("score").textContent = score;
  find("share").textContent = oneIn(eta);
  const slide = (id, at, most, says) => {
    find(id).max = most; find(id).value = at; find(id).setAttribute("aria-valuetext", says);
  };
  slide("row", state.row, rows.length - 1, "score " + score);
  slide("eta", state.eta, data.etas.length - 1, oneIn(eta));
  const show = (id, said, low, high) => {
    const ends = document.createElement("small");
    ends.textContent = known ? `${low} to ${high}` : "";
    find(id).replaceChildren(said + " ", ends);
  };
  show("alerts", two(point.alerts), two(point.alertsLow), two(point.alertsHigh));
  show("found", percent(point.recall), percent(point.recallLow ?? 0), percent(point.recallHigh ?? 0));
  show("cost", two(point.cost), two(point.costLow), two(point.costHigh));
  find("alert").value = state.alert;
  find("miss").value = state.miss;
  [...find("models").children].forEach((button, n) => button.setAttribute("aria-pressed", n === state.model));
  drawCosts(points, color);
}

data.models.forEach(({name, color, rows}, number) => {
  const button = document.createElement("button");
  button.textContent = name;
  button.dir = "auto";
  button.style.setProperty("--c", `var(--c${color})`);
  button.onclick = () => {
    const recall = data.models[state.model].rows[state.row][1];
    state.model = number;
    state.row = rows.reduce((best, row, n) => Math.abs(row[1] - recall) < Math.abs(rows[best][1] - recall) ? n : best, 0);
    writeAddress();
  };
  find("models").append(button);
});
find("models").hidden = data.models.length < 2;
find("row").oninput = (event) => { state.row = Number(event.target.value); writeAddress(); };
find("eta").oninput = (event) => { state.eta = Number(event.target.value); writeAddress(); };
for (const id of ["alert", "miss"]) {
  find(id).onchange = (event) => {
    const number = Number(event.target.value);
    if (Number.isFinite(number) && number >= 0) state[id] = number;
    writeAddress();
  };
}
addEventListener("hashchange", () => { readAddress(); draw(); });
readAddress();
draw();
