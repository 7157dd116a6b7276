/** The score: R, revenue beside it and R's four factors, with their course over the last 4 steps. */

import { lineChart } from "./charts.js";
import { byId, el } from "./dom.js";
import { fixed } from "./format.js";
/** @import { Series } from "./charts.js" */
/** @import { Round } from "./session.js" */

/** @type {[name: string, letter: string, word: string, meaning: string][]} Names as in the API. */
export const TERMS = [
  ["composite", "R", "Score", "welfare × fairness × participation × stability"],
  ["welfare", "W", "Welfare", "the goods reach the bidders who value them most"],
  ["fairness", "F", "Fairness", "the gains are spread over many bidders"],
  ["participation", "P", "Participation", "bidders come and compete"],
  ["stability", "S", "Stability", "welfare changes little from round to round"],
];

/** @type {Series[]} */
const MONEY = [
  { label: "Revenue, all units", colour: "revenue" },
  { label: "Price of a unit", colour: "price" },
  { label: "Reserve", colour: "reserve", dash: [5, 4] },
];

/** The numbers under the arena, and the charts of the last rounds. */
export class Scores {
  constructor() {
    this.tiles = TERMS.map(tile);
    this.revenue = tile(["revenue", "", "Revenue", "what the buyers paid for all units, in units of value"]);
    this.objective = tile(["objective", "", "Objective", "what this episode rewards"]);
    const [score, ...factors] = this.tiles;
    const all = [score, this.revenue, ...factors, this.objective];
    byId("scores").replaceChildren(...all.map(({ box }) => box));
    this.name("R");
    this.terms = lineChart(byId("chart-terms"), TERMS.map(termSeries), {
      height: 220,
      range: [0, 1],
    });
    this.money = lineChart(byId("chart-money"), MONEY, { height: 220 });
  }

  /**
   * Show the numbers of a round or a step; dashes if there is none.
   * @param {wire.Scores} [scores]
   * @param {number} [revenue]
   */
  show(scores, revenue) {
    for (const { name, number } of this.tiles) number.textContent = fixed(scores?.[name]);
    this.revenue.number.textContent = fixed(revenue);
    this.objective.number.textContent = fixed(scores?.objective);
  }

  /**
   * Say what the episode rewards; another objective than R has a tile of its own.
   * @param {string} scoreName
   */
  name(scoreName) {
    this.objective.box.hidden = scoreName === "R";
    byId("log-score").textContent = scoreName;
  }

  /**
   * Show, beside each number, the number of the same round or step under the old rules.
   * @param {wire.Scores} scores
   * @param {number} revenue
   */
  beside(scores, revenue) {
    for (const { name, twin } of this.tiles) twin.textContent = `old rules ${fixed(scores[name])}`;
    this.revenue.twin.textContent = `old rules ${fixed(revenue)}`;
  }

  /**
   * Say which round or step the numbers belong to.
   * @param {string} text
   */
  label(text) {
    byId("scores-of").textContent = text;
  }

  /**
   * Draw the course of the last rounds.
   * @param {Round[]} rounds
   */
  trend(rounds) {
    const at = rounds.map(({ number }) => number);
    const columns = TERMS.map(([name]) => rounds.map(({ scores }) => scores[name]));
    const revenue = rounds.map((round) => round.revenue);
    this.tiles.forEach(({ spark }, index) => spark.set([at, columns[index]]));
    this.revenue.spark.set([at, revenue]);
    if (!this.objective.box.hidden) {
      this.objective.spark.set([at, rounds.map(({ scores }) => scores.objective)]);
    }
    this.terms.set([at, ...columns]);
    this.money.set([at, revenue, rounds.map((r) => r.price), rounds.map((r) => r.reserve)]);
    byId("chart-terms").setAttribute("aria-label", course("R", columns[0]));
    byId("chart-money").setAttribute("aria-label", course("Revenue", revenue));
  }
}

/**
 * @param {typeof TERMS[number]} term
 * @returns {Series}
 */
function termSeries([name, letter]) {
  return { label: letter, colour: name, width: letter === "R" ? 3 : 1.75 };
}

/** @param {typeof TERMS[number]} term */
function tile([name, letter, word, meaning]) {
  const number = el("output", { class: "number", text: "–" });
  const twin = el("p", { class: "twin-number" });
  const host = el("div", { class: "spark", "aria-label": `${word} over the last 4 steps` });
  const box = el(
    "div",
    { class: `tile tile-${name}`, title: `${word}: ${meaning}` },
    el("p", { class: "term" }, el("span", { class: "letter", text: letter }), word),
    number,
    twin,
    host,
    el("p", { class: "meaning", text: meaning }),
  );
  /** @type {[number, number]|undefined} */
  const range = name === "revenue" ? undefined : [0, 1];
  const spark = lineChart(host, [{ label: word, colour: name }], { height: 34, range, bare: true });
  return { name, box, number, twin, spark };
}

/**
 * Return the course of some numbers in words.
 * @param {string} label
 * @param {number[]} numbers
 */
function course(label, numbers) {
  if (!numbers.length) return `${label}: no rounds yet`;
  const [first, last] = [numbers[0], numbers.at(-1)].map((each) => fixed(each));
  return `${label} over the last ${numbers.length} rounds: from ${first} to ${last}`;
}
