"use strict";
// Numbers as people say them: the same rules as in the document.
const space = "\u00a0";
const group = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const two = (n) => {
  if (!(n > 0)) return "0";
  const rounded = Number(n.toPrecision(2));
  return rounded >= 1000 ? group(rounded) : String(rounded);
};
const sayEta = (eta) => {
  const n = 1 / eta, whole = Math.round(n);
  const isWhole = Math.abs(whole * eta - 1) < 1e-9 && whole === Number(whole.toPrecision(3));
  const isRound = eta >= 0.01 && Math.abs(Number(eta.toPrecision(2)) - eta) < 1e-12;
  if (eta > 0.1 || (isRound && !isWhole)) return two(100 * eta) + "%";
  return "1" + space + "in" + space + group(isWhole ? whole : Number(n.toPrecision(2)));
};
// Numbers of one interval: two digits that count, and as few decimals beyond these as tell them apart.
// None below the whole reads as that.
const magnitude = (n) => n ? Number(n.toExponential(1).split("e")[1]) : 1;
function sayNumbers(numbers, whole = Infinity) {
  const least = numbers.map((n) => 1 - magnitude(n)), largest = Math.max(...numbers.map(Math.abs));
  const finest = 5 - magnitude(Math.min(largest, whole - largest || largest));
  const round = (n, decimals) => decimals >= 0 ? n.toFixed(decimals) : String(Math.round(n * 10 ** decimals) / 10 ** decimals);
  const write = (n, decimals) => n === 0 || n === whole ? String(n)
    : round(n, decimals).replace("-", "\u2212").replace(/^\d+/, group);
  const different = new Set(numbers.map((n) => round(n, finest))).size;
  let said = [];
  for (let decimals = Math.min(...least); decimals < Math.max(0, ...least) + 14; decimals++) {
    said = numbers.map((n, place) => write(n, Math.max(decimals, least[place])));
    const isApart = decimals > finest || new Set(said).size >= different;
    if (isApart && !numbers.some((n) => n < whole && Number(round(n, decimals)) >= whole)) break;
  }
  return said;
}
const sayShares = (shares) => {
  const [share, ...ends] = sayNumbers(shares.map((share) => 100 * (share ?? 0)), 100);
  return [share + "%", ...ends];
};

// The formulas of the library. Recall and fpr have intervals; a share moves with each of them, and both
// distances add up in quadrature on the scale of its log odds. At 0 and 1 that scale has no distances,
// and both ends move at once.
const logit = (share) => Math.log(share / (1 - share));
function spread(share, rates, farthest, compute) {
  const at = logit(share), [recall, fpr] = rates, [recallEnd, fprEnd] = farthest;
  const distance = Math.hypot(at - logit(compute(recallEnd, fpr)), at - logit(compute(recall, fprEnd)));
  const sign = Math.sign(compute(recallEnd, fprEnd) - share);
  return Number.isFinite(at) && !Number.isNaN(distance)
    ? 1 / (1 + Math.exp(-at - sign * distance)) : compute(recallEnd, fprEnd);
}
// What is right among the alerts, and how many they are, for rates [recall, low, high, fpr, low, high].
function computePoint(rates, eta, per) {
  const [recall, recallLow, recallHigh, fpr, fprLow, fprHigh] = rates, both = [recall, fpr];
  const flagged = (r, f) => r * eta + f * (1 - eta);
  const precision = (r, f) => flagged(r, f) > 0 ? r * eta / flagged(r, f) : null;
  const value = precision(...both), share = flagged(...both), point = {recall, recallLow, recallHigh, value};
  if (recallLow === null || value === null) {
    return {...point, low: value, high: value, alerts: per * share, alertsLow: null, alertsHigh: null};
  }
  return {
    ...point,
    low: spread(value, both, [recallLow, fprHigh], precision),
    high: spread(value, both, [recallHigh, fprLow], precision),
    alerts: per * share,
    alertsLow: per * spread(share, both, [recallLow, fprLow], flagged),
    alertsHigh: per * spread(share, both, [recallHigh, fprHigh], flagged),
  };
}

// Whether one true alert takes so many that people say how many: the rule of the document.
const isRare = ({value, high}) => value > 0 && value < 0.02 && !(high > 0.5);

// The sentence about a point: its precision, with the interval.
function sayPrecision({value, low, high, recallLow}) {
  const [share, ...ends] = sayShares(recallLow === null ? [value] : [value, low, high]);
  return ` is ${share}${ends.length ? ` (${ends.join(`${space}to${space}`)})` : ""}`;
}
const sayWhere = (eta) => `at a prevalence of ${sayEta(eta)}`;

const shape = (name, attributes, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

// What hatched icons mean, and how many there would be if not all are drawn.
const mostIcons = 200;
const countOneIn = (share) => Math.round(1 / share < 10 ? 1 / share : Number((1 / share).toPrecision(2)));
function describeDoubt({value, low, high}) {
  if (!isRare({value, high})) return "true or not";
  const most = low > 0 ? countOneIn(low) : Infinity;
  const end = low > 0 ? `, up to ${two(1 / low)}; ${mostIcons} are drawn` : `, and more than the ${mostIcons} drawn`;
  return "may have to be read until one is true" + (most > mostIcons ? end : "");
}

// Icons as in the report: solid is right, hollow is false, and hatched what the interval leaves open.
function drawIcons(place, point, color, label) {
  const kinds = [];
  if (isRare(point)) {
    const first = countOneIn(point.high), middle = countOneIn(point.value);
    const most = Math.min(mostIcons, point.low > 0 ? countOneIn(point.low) : mostIcons);
    kinds.push(middle <= mostIcons ? "right" : "false");  // one in more than are drawn
    for (let n = 1; n < Math.max(most, Math.min(middle, mostIcons)); n++) {
      kinds.push(n < first ? "false" : n < middle ? "likely" : "open");
    }
  } else {
    const count = (share) => Math.min(Math.round(100 * share), share < 1 ? 99 : 100);
    const ends = [point.low, point.value, point.high].map(count);
    for (let n = 0; n < 100; n++) {
      kinds.push(n < ends[0] ? "right" : n < ends[1] ? "likely" : n < ends[2] ? "open" : "false");
    }
  }
  const columns = kinds.length > 100 ? 20 : 10, cell = 300 / columns;
  const ink = `var(--c${color})`, hatch = `url(#hatch-${color})`;
  const looks = {
    right: {style: `fill:${ink};stroke:${ink}`},
    likely: {style: `fill:${hatch};stroke:${ink}`, "stroke-width": 2.4},
    open: {style: `fill:${hatch};stroke:${ink}`, "fill-opacity": 0.38},
    false: {style: "fill:none;stroke:var(--rule)"},
  };
  place.replaceChildren(...kinds.map((kind, n) => shape("circle", {
    cx: (n % columns + 0.5) * cell, cy: (Math.floor(n / columns) + 0.5) * cell, r: 0.37 * cell, ...looks[kind],
  })));
  place.setAttribute("aria-label", label);
}
