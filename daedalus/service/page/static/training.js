/** The training curves of the newest run. */

import { api } from "./api.js";
import { lineChart } from "./charts.js";
import { byId, el } from "./dom.js";
import { fixed, isNumber, words } from "./format.js";

const FIRST = ["reward_sampled", "reward_neighbours", "reward", "entropy", "reward_std", "validity", "completion_length", "grad_norm"];
const MOST = 6; // charts; other curves follow those named above

/** @typedef {wire.TrainingCurves["history"]} History */

/** Draw the history of the newest run, or say that there is no run. */
export async function showTraining() {
  const { run, history, scores } = await api.training();
  byId("training-none").hidden = Boolean(run);
  byId("training-run").textContent = run ? `Run ${run}, ${history.length} logged steps.` : "";
  const panels = signals(history).map((name) => panel(name, history));
  byId("training-charts").replaceChildren(...panels.map(({ figure }) => figure));
  for (const { draw } of panels) draw();
  byId("training-scores").hidden = !scores.length;
  const best = [...scores].sort((one, other) => other.mean - one.mean);
  byId("training-table").replaceChildren(...best.map(scoreRow));
}

/** @param {wire.DesignerScore} score */
function scoreRow({ designer, mean, low, high }) {
  const bar = el("progress", { max: 1, value: mean, "aria-hidden": "true" });
  const interval = `[${fixed(low, 3)}, ${fixed(high, 3)}]`;
  return el(
    "tr",
    { class: designer === "trained" ? "trained" : "" },
    el("th", { scope: "row", text: words(designer) }),
    el("td", { class: "figure-cell" }, bar, fixed(mean, 3)),
    el("td", { class: "quiet", text: interval }),
  );
}

/**
 * Return the names of the curves to draw.
 * @param {History} history
 */
function signals(history) {
  const names = new Set(history.flatMap((entry) => Object.keys(entry)));
  names.delete("step");
  const numeric = [...names].filter((name) => history.some((each) => isNumber(each[name])));
  const first = FIRST.filter((name) => numeric.includes(name));
  return [...new Set([...first, ...numeric])].slice(0, MOST);
}

/**
 * Return a figure and the function that draws its curve, once the figure is on the page.
 * @param {string} name
 * @param {History} history
 */
function panel(name, history) {
  const values = history.map((entry) => (isNumber(entry[name]) ? entry[name] : null));
  const known = values.filter(isNumber);
  const [first, last] = [known[0], known.at(-1)].map((value) => fixed(value, 3));
  const label = `${words(name)} over training: from ${first} to ${last}`;
  const host = el("div", { class: "chart", "aria-label": label });
  const figure = el("figure", {}, el("figcaption", { text: `${words(name)}, ${last} at last` }), host);
  const draw = () => {
    const colour = name === "reward" ? "composite" : "fairness";
    const chart = lineChart(host, [{ label: words(name), colour }], { height: 170 });
    chart.set([history.map(({ step }) => step), values]);
  };
  return { figure, draw };
}
