"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
let here = data.groups[0];
const state = {group: 0, model: 0, row: here.models[0].row, eta: here.place, alert: 1, miss: data.miss};

// A row is a score, recall with its interval, fpr with its interval, and where few false alerts were seen,
// how many, or -1 where they have weights. Points that were published have no scores.
function evaluate([threshold, ...rates], eta) {
  const [recall, recallLow, recallHigh, fpr, fprLow, fprHigh] = rates;
  const pay = (r, f) => data.per * (state.alert * f * (1 - eta) + state.miss * (1 - r) * eta);
  const point = computePoint(rates, eta, data.per), cost = pay(recall, fpr);
  if (point.alertsLow === null) return {threshold, ...point, cost, costLow: cost, costHigh: cost};
  const costs = (r, f) => Math.hypot(cost - pay(r, fpr), cost - pay(recall, f));
  return {threshold, ...point, cost, costLow: cost - costs(recallHigh, fprLow), costHigh: cost + costs(recallLow, fprHigh)};
}

function nameRow(rows, number) {
  return rows[number][0] ?? `${number + 1} of ${rows.length}`;
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(state)) {
    const number = Number(said.get(key));
    if (said.has(key) && Number.isFinite(number) && number >= 0) state[key] = number;
  }
  const keep = (n, most) => Math.min(Math.max(Math.round(n), 0), most);
  state.group = keep(state.group, data.groups.length - 1);
  here = data.groups[state.group];
  state.model = keep(state.model, here.models.length - 1);
  state.row = keep(state.row, here.models[state.model].rows.length - 1);
  state.eta = keep(state.eta, here.etas.length - 1);
  listModels();
}

function writeAddress() {
  const said = Object.entries(state).map(([key, value]) => `${key}=${value}`).join("&");
  history.replaceState(null, "", "#" + said);
  draw();
}

// Round numbers on an axis that ends here, about three.
function listTicks(top) {
  const power = 10 ** Math.floor(Math.log10(top / 3 || 1));
  const step = [1, 2, 5, 10].map((k) => k * power).find((step) => top / step <= 5);
  return Array.from({length: Math.floor(top / step) + 1}, (_, n) => n * step);
}

function drawCosts(points, color, rows) {
  const place = find("costs"), wide = Math.max(place.clientWidth || 640, 280), high = 210;
  const left = 70, right = wide - 10, foot = high - 34, last = points.length - 1;
  const eta = here.etas[state.eta], chosen = points[state.row];
  const none = state.miss * data.per * eta, all = state.alert * data.per * (1 - eta);
  // The axis holds all costs up to twice those of the better of both; what is dearer runs out of it.
  const reference = Math.min(none, all), shown = points.map((point) => Math.min(point.costHigh, 2 * reference));
  const top = 1.08 * Math.max(reference, chosen.cost, ...shown) || 1;
  const x = (n) => left + (last ? n / last : 0) * (right - left);
  const y = (cost) => 12 + (1 - cost / top) * (foot - 12);
  const line = (read) => points.map((point, n) => `${x(n).toFixed(1)},${y(read(point)).toFixed(1)}`);
  const ink = `var(--c${color})`, small = {"font-size": 12, class: "quiet"}, shapes = [];
  const rule = (level, style) => shapes.push(shape("line", {x1: left, x2: right, y1: y(level), y2: y(level), style}));
  for (const tick of listTicks(top)) {
    rule(tick, "stroke:var(--grid)");
    shapes.push(shape("text", {x: left - 8, y: y(tick) + 4, "text-anchor": "end", ...small}, two(tick)));
  }
  const inside = shape("svg", {y: 12, width: wide, height: foot - 12, viewBox: `0 12 ${wide} ${foot - 12}`, overflow: "hidden"});
  const band = [...line((p) => p.costLow), ...line((p) => p.costHigh).reverse()].join(" ");
  inside.append(
    shape("polygon", {points: band, style: `fill:${ink}`, opacity: 0.16}),
    shape("polyline", {points: line((p) => p.cost).join(" "), fill: "none", style: `stroke:${ink}`, "stroke-width": 2.4}),
  );
  shapes.push(inside);
  for (const [level, name, at, anchor] of [[none, "no alerts", left + 6, "start"], [all, "alert on all", right, "end"]]) {
    if (level > top) continue;
    rule(level, "stroke:var(--rule)");
    shapes.push(shape("text", {x: at, y: y(level) - 5, "text-anchor": anchor, "font-size": 12, class: "quiet rim"}, name));
  }
  shapes.push(shape("line", {x1: x(state.row), x2: x(state.row), y1: 12, y2: foot, style: "stroke:var(--text)"}));
  shapes.push(shape("circle", {cx: x(state.row), cy: y(chosen.cost), r: 5, style: `fill:${ink};stroke:var(--ground)`}));
  const ends = data.hasScores ? [`threshold ${nameRow(rows, 0)}`, nameRow(rows, last)] : ["few alerts", "many alerts"];
  shapes.push(shape("text", {x: left, y: high - 12, ...small}, ends[0]));
  shapes.push(shape("text", {x: right, y: high - 12, "text-anchor": "end", ...small}, ends[1]));
  place.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  place.replaceChildren(...shapes);
  const doing = none <= all ? "no alerts at all" : "an alert on every case";
  const isBelow = chosen.costHigh < reference, isAbove = chosen.costLow > reference;
  const beyond = points.some((point) => point.cost > top) ? " Not drawn: costs above the axis." : "";
  find("cheaper").textContent = (isBelow ? `Significantly cheaper than ${doing}.`
    : isAbove ? `Significantly more expensive than ${doing}.` : `Not significantly cheaper than ${doing}.`) + beyond;
  const cheapest = points.reduce((best, point, n) => point.cost < points[best].cost ? n : best, 0);
  find("go").onclick = () => { state.row = cheapest; writeAddress(); };
}

function draw() {
  const {color, rows} = here.models[state.model], eta = here.etas[state.eta];
  const points = rows.map((row) => evaluate(row, eta)), {decided, row} = here.models[state.model];
  const verdict = state.row === row ? decided[state.eta] : undefined;
  const point = {...points[state.row], ...verdict};  // its intervals allow for the choice of the threshold
  find("intervals").textContent = verdict ? data.intervals : data.intervalsOfPoint;
  const score = nameRow(rows, state.row), known = point.recallLow !== null;
  const from = data.hasScores ? `At threshold ${score}, precision` : "Precision", value = point.value ?? 0;
  find("say").textContent = `${from}${sayPrecision(point)} ${here.where}${sayWhere(eta)}`;
  const drawn = {...point, value, low: point.low ?? value, high: point.high ?? value};
  drawIcons(find("icons"), drawn, color, find("say").textContent);
  find("key").textContent = `solid: true · hatched: ${describeDoubt(drawn)} · hollow: false`;
  const few = rows[state.row][7];
  const words = {"-1": "Few false positives", 0: "No false positive", 1: "1 false positive"};
  find("doubt").textContent = few === undefined ? ""
    : `${words[few] ?? few + " false positives"}: the interval may be too narrow.`;
  find("score").textContent = score;
  find("share").textContent = sayEta(eta);
  const slide = (id, at, most, says) => {
    find(id).max = most; find(id).value = at; find(id).setAttribute("aria-valuetext", says);
  };
  slide("row", state.row, rows.length - 1, (data.hasScores ? "threshold " : "point ") + score);
  slide("eta", state.eta, here.etas.length - 1, sayEta(eta));
  const show = (id, say, numbers) => {
    const ends = document.createElement("small"), [said, ...saidEnds] = say(known ? numbers : [numbers[0]]);
    ends.textContent = saidEnds.join(" to ");
    find(id).replaceChildren(said + " ", ends);
  };
  show("alerts", sayNumbers, [point.alerts, point.alertsLow, point.alertsHigh]);
  show("found", sayShares, [point.recall, point.recallLow, point.recallHigh]);
  show("cost", sayNumbers, [point.cost, point.costLow, point.costHigh]);
  find("alert").value = state.alert;
  find("miss").value = state.miss;
  [...find("models").children].forEach((button, n) => button.setAttribute("aria-pressed", n === state.model));
  drawCosts(points, color, rows);
}

// The row of a curve that finds as many positives as this share, about.
const findRow = (rows, recall) => rows.reduce(
  (best, row, n) => Math.abs(row[1] - recall) < Math.abs(rows[best][1] - recall) ? n : best, 0);

// Go to a model, or to the same one of another group, at the prevalence and the recall that are seen, or
// from the score that is decided about to that of the other model.
function go(group, model) {
  const before = here, old = here.models[state.model], recall = old.rows[state.row][1];
  const isDecided = state.row === old.row;
  here = data.groups[group];
  if (model === undefined) model = Math.max(here.models.findIndex(({name}) => name === old.name), 0);
  const isOwn = state.eta === before.place, same = here.etas.indexOf(before.etas[state.eta]);
  const eta = isOwn || same < 0 ? here.place : same;
  const next = here.models[model];
  Object.assign(state, {group, model, eta, row: isDecided ? next.row : findRow(next.rows, recall)});
  listModels();
  writeAddress();
}

function listModels() {
  find("models").replaceChildren(...here.models.map(({name, color}, number) => {
    const button = document.createElement("button");
    button.textContent = name;
    button.dir = "auto";
    button.style.setProperty("--c", `var(--c${color})`);
    button.onclick = () => go(state.group, number);
    return button;
  }));
  find("models").hidden = here.models.length < 2;
  if (find("group")) find("group").value = state.group;
}

if (find("group")) find("group").oninput = (event) => go(Number(event.target.value));
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
addEventListener("resize", draw);
readAddress();
draw();
