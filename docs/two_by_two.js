// The front page: a 2x2 table and a base rate to move, with the formulas of the package in front of this script.
const LEVEL = 1.959963984540054, PER = 1000, CELLS = ["tp", "fn", "fp", "tn"];
const find = (id) => document.getElementById(id);
const state = {tp: 202, fp: 3, fn: 10, tn: 354, n: 250};

// The interval of a rate by Wilson's score test, as everywhere in the package.
function estimateRate(hits, size) {
  const rate = hits / size, square = LEVEL ** 2 / size, middle = (rate + square / 2) / (1 + square);
  const half = Math.sqrt(square * (rate * (1 - rate) + square / 4)) / (1 + square);
  return [rate, hits ? middle - half : 0, hits < size ? middle + half : 1];
}

// Two digits of what is missing to 100%, which is what matters where positives are rare.
const saySpecificity = (fpr) => Number((100 - Number((100 * fpr).toPrecision(2))).toPrecision(12)) + "%";

// Of recall the high end is raised where 1 to 3 of at least 8 positives are missed: to the recall at which
// so many are missed, or more, in 5 of 100 tests.
const MISSED = [0, 0.0512932943875505, 0.355361510698662, 0.817691447163953];
function estimateRecall(hits, missed) {
  const size = hits + missed, [rate, low, high] = estimateRate(hits, size);
  return [rate, low, size >= 8 && missed < 4 ? Math.max(high, 1 - MISSED[missed] / size) : high];
}

function evaluateTable({tp, fp, fn, tn, n}) {
  return computePoint([...estimateRecall(tp, fn), ...estimateRate(fp, fp + tn)], 1 / n, PER);
}

function draw() {
  const isCount = CELLS.every((cell) => Number.isInteger(state[cell]) && state[cell] >= 0);
  const wrong = !isCount ? "Counts are whole numbers from 0 up."
    : state.tp + state.fn === 0 ? "Without positives, sensitivity is undefined."
    : state.fp + state.tn === 0 ? "Without negatives, specificity is undefined."
    : state.tp + state.fp === 0 ? "Without alerts, precision is undefined."
    : !(state.n >= 1) ? "The base rate is 1 in n, with n of at least 1." : "";
  for (const cell of [...CELLS, "n"]) if (find(cell) !== document.activeElement) find(cell).value = state[cell];
  find("wrong").textContent = wrong;
  find("icons").style.visibility = wrong ? "hidden" : "";
  for (const id of ["say", "rates"]) find(id).textContent = "";
  if (wrong) return;
  const point = evaluateTable(state), eta = 1 / state.n;
  find("say").textContent = `Precision${sayPrecision(point)} ${sayWhere(eta)}`;
  find("rates").textContent = `Sensitivity ${sayShares([point.recall])[0]}, specificity `
    + `${saySpecificity(state.fp / (state.fp + state.tn))}, at any prevalence. Per 1,000 cases: ${two(point.alerts)} alerts `
    + `(${two(point.alertsLow)} to ${two(point.alertsHigh)}).`;
  find("slide").value = Math.log10(state.n);
  find("slide").setAttribute("aria-valuetext", sayEta(eta));
  drawIcons(find("icons"), point, 0, find("say").textContent);
}

function change(said) {
  Object.assign(state, said);
  history.replaceState(null, "", "#" + Object.entries(state).map(([key, value]) => `${key}=${value}`).join("&"));
  draw();
}

function readAddress() {
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (key in state && value !== "" && Number.isFinite(Number(value))) state[key] = Number(value);
  }
  draw();
}

if (find("two-by-two")) {
  for (const id of [...CELLS, "n"]) find(id).oninput = () => change({[id]: find(id).value === "" ? NaN : Number(find(id).value)});
  for (const cell of CELLS) find(cell).onpaste = (event) => {
    const pasted = event.clipboardData.getData("text").match(/\d+/g) ?? [];
    if (pasted.length !== 4) return;
    event.preventDefault();
    document.activeElement.blur();
    change(Object.fromEntries(CELLS.map((name, place) => [name, Number(pasted[place])])));
  };
  find("slide").oninput = () => change({n: Number((10 ** Number(find("slide").value)).toPrecision(2))});
  addEventListener("hashchange", readAddress);
  readAddress();
}
