/** What the card of the tour says: a stop, a prediction, a result, and the end. */

import { byId, el } from "./dom.js";
import { fixed, mean } from "./format.js";
import { TERMS } from "./scores.js";
/** @import { Step } from "./session.js" */

const FACTORS = TERMS.slice(1);
/** @type {Record<string, string>} The rows of the result, by their names in the API. */
const ROWS = {
  ...Object.fromEntries(TERMS.map(([key, letter, word]) => [key, `${letter} ${word}`])),
  revenue: "Revenue, all units",
};

/**
 * The means of five steps under the old and under the new rules.
 * @typedef {{old: Record<string, number>, better: Record<string, number>}} Result
 */

/**
 * Return the means of the scores and the revenue.
 * @param {Step[]} steps
 * @returns {Record<string, number>}
 */
export function means(steps) {
  /** @type {Record<string, number>[]} */
  const rows = steps.map(({ scores, revenue }) => ({ ...scores, revenue }));
  return Object.fromEntries(Object.keys(ROWS).map((key) => [key, mean(rows.map((row) => row[key]))]));
}

/** Return the choices of the prediction. */
export function predictions() {
  return FACTORS.map(([key, letter, word]) =>
    el(
      "label",
      { class: "check" },
      el("input", { type: "radio", name: "prediction", value: key, required: true }),
      `${letter} ${word}`,
    ),
  );
}

/**
 * Return the factor that gained most, as its name in the API.
 * @param {Result} result
 */
export function gainedMost({ old, better }) {
  const gains = FACTORS.map(([key]) => ({ key, gain: better[key] - old[key] }));
  return gains.reduce((best, each) => (each.gain > best.gain ? each : best)).key;
}

/**
 * Say whether the prediction came true.
 * @param {string} predicted
 * @param {Result} result
 */
export function verdict(predicted, result) {
  const [word, said] = [gainedMost(result), predicted].map(wordFor);
  const came = word === said ? `You said ${said}, and you were right.` : `You said ${said}.`;
  return `${came} ${word} gained most.`;
}

/** @param {string} key */
function wordFor(key) {
  return FACTORS.find(([name]) => name === key)?.[2] ?? key;
}

/**
 * Write the numbers under both rules.
 * @param {Result} result
 */
export function showResult({ old, better }) {
  const rows = Object.entries(ROWS).map(([key, name]) =>
    el(
      "tr",
      { data: { key } },
      el("th", { scope: "row", text: name }),
      ...[old[key], better[key]].map((value) => el("td", { text: fixed(value) })),
      el("td", { text: signed(Number(fixed(better[key])) - Number(fixed(old[key]))) }), // as a reader subtracts
    ),
  );
  byId("tour-numbers").replaceChildren(...rows);
}

/**
 * Write what each stop taught.
 * @param {wire.TourStop[]} stops
 * @param {Map<string, Result>} results By stop, of those that were played to their end.
 */
export function showLessons(stops, results) {
  const items = stops.map(({ name, title, lesson }) => {
    const result = results.get(name);
    const seen = result
      ? `You saw R go from ${fixed(result.old.composite)} to ${fixed(result.better.composite)}.`
      : "";
    return el("li", {}, el("b", { text: `${title}. ` }), lesson, " ", el("span", { class: "quiet", text: seen }));
  });
  byId("tour-lessons").replaceChildren(...items);
}

/** @param {number} difference */
function signed(difference) {
  return `${difference < 0 ? "−" : "+"}${fixed(Math.abs(difference))}`;
}
