/** Compares designers and the visitor's own rules: each plays the same episode. */

import { api, isCancelled } from "./api.js";
import { lineChart } from "./charts.js";
import { byId, el } from "./dom.js";
import { fixed, mean, scoreName, sentence, words } from "./format.js";
import { intervalInWords, inWords, seedsFrom } from "./seeds.js";
import { announce, guarded, notice } from "./notices.js";
import { TERMS } from "./scores.js";
import { revenueOf } from "./session.js";
import { sideGame } from "./side_episode.js";
/** @import { Chart } from "./charts.js" */
/** @import { Controls } from "./controls.js" */
/** @import { Session } from "./session.js" */

const OWN = "own";
const MOST_REASONS = 3; // shown of one designer; those of invalid answers quote their values
const CHOSEN = ["random", "informed_greedy", "trained", OWN];
const COLOURS = [1, 2, 3, 4, 5, 6, 7].map((number) => `compare-${number}`);

/**
 * @typedef {Object} Result What one designer has played.
 * @property {string} name
 * @property {Record<string, number>[][]} episodes For each seed, the reward, the revenue and the
 *   scores of each step.
 * @property {Set<string>} reasons Why another designer stood in for it, or what it was made for.
 */

/** @typedef {import("./side_episode.js").Plan & {own: wire.Mechanism}} Plan Also the visitor's rules. */

/** The section that compares. */
export class Compare {
  /** @type {AbortController|null} */
  #abort = null;
  /** @type {Chart|null} */
  #chart = null;

  /**
   * @param {{name: string}[]} designers
   * @param {Session} session
   * @param {Controls} controls
   */
  constructor(designers, session, controls) {
    this.session = session;
    this.controls = controls;
    this.buttons = {
      run: byId("compare-run", HTMLButtonElement),
      cancel: byId("compare-cancel", HTMLButtonElement),
    };
    const names = [...designers.map(({ name }) => name), OWN];
    names.sort((one, other) => rank(one) - rank(other));
    this.boxes = names.map(choice);
    this.count = byId("compare-seeds", HTMLInputElement);
    this.length = 0;
    this.total = 0;
    byId("compare-who").append(...this.boxes.map(({ label }) => label));
    this.buttons.run.addEventListener("click", guarded(() => this.run()));
    this.buttons.cancel.addEventListener("click", () => this.#abort?.abort());
  }

  /** Play one episode for each chosen designer. After a cancel, the steps played so far stay. */
  async run() {
    const names = this.boxes.filter(({ box }) => box.checked).map(({ name }) => name);
    const { options, state } = this.session; // as they are now; they may change later
    const id = `${this.session.id}:compare`;
    if (!this.count.reportValidity()) return;
    if (!names.length) return notice("Choose at least one designer to compare.");
    if (!state) return notice("Begin an episode first: press Reset.");
    this.#abort = new AbortController();
    /** @type {Result[]} */
    const results = names.map((name) => ({ name, episodes: [], reasons: new Set() }));
    const { own } = this.controls;
    const { signal } = this.#abort;
    const seeds = seedsFrom(state.seed, Number(this.count.value));
    this.#begin(results, state, seeds);
    try {
      for (const seed of seeds) {
        const plan = { id, options: { ...options, seed }, length: state.episode_length, own, signal };
        for (const result of results) await this.#play(result, plan, results);
      }
      this.#say(`Done: ${results.length * seeds.length} episodes on ${inWords(seeds)}.`);
    } catch (error) {
      if (!isCancelled(error)) throw error;
      this.#say("Cancelled. The steps played so far stay.");
    } finally {
      this.#end();
    }
  }

  /**
   * @param {Result} result
   * @param {Plan} plan
   * @param {Result[]} results
   */
  async #play(result, plan, results) {
    /** @type {Record<string, number>[]} */
    const steps = [];
    result.episodes.push(steps);
    for await (const answer of sideGame(plan, () => this.#decide(result, plan))) {
      const revenue = revenueOf(await api.arena(plan.id));
      steps.push({ reward: answer.reward, revenue, ...answer.info.scores });
      this.#progress(results);
    }
  }

  /**
   * @param {Result} result
   * @param {Plan} plan
   */
  async #decide({ name, reasons }, { id, own, signal }) {
    if (name === OWN) return own;
    const { mechanism, source, error, note } = await api.design(id, name, signal);
    if (note) reasons.add(note);
    const why = source === "fallback" && error ? `the heuristic designer stood in: ${error}` : "";
    if (why && reasons.size < MOST_REASONS) reasons.add(why);
    return mechanism;
  }

  /**
   * @param {Result[]} results
   * @param {wire.DaedalusState} state
   * @param {number[]} seeds
   */
  #begin(results, state, seeds) {
    this.length = state.episode_length;
    this.total = results.length * seeds.length * this.length;
    this.buttons.run.disabled = true;
    this.buttons.cancel.disabled = false;
    byId("compare-said").textContent = "";
    byId("compare-result").hidden = false;
    byId("compare-of").textContent =
      `${words(state.population)}, ${state.market} market, ${state.n_agents} bidders, ` +
      `${state.episode_length} steps, ${inWords(seeds)}`;
    const score = scoreName(state.objective);
    for (const each of document.querySelectorAll("#compare .score-name")) each.textContent = score;
    const label = `${score} of each step, by designer`;
    const host = el("div", { class: "chart", "aria-label": label });
    byId("compare-chart").replaceChildren(host);
    const series = results.map(({ name }, index) => ({ label: title(name), colour: COLOURS[index] }));
    this.#chart = lineChart(host, series, { height: 260, range: [0, 1] });
    this.#progress(results);
  }

  #end() {
    this.buttons.run.disabled = false;
    this.buttons.cancel.disabled = true;
    this.#abort = null;
  }

  /** @param {Result[]} results */
  #progress(results) {
    const played = results.reduce((sum, { episodes }) => sum + episodes.flat().length, 0);
    const bar = byId("compare-progress", HTMLProgressElement);
    bar.max = this.total;
    bar.value = played;
    byId("compare-count").textContent = `${played} of ${bar.max} steps`;
    const at = Array.from({ length: this.length }, (_, index) => index + 1);
    const rewards = results.map(({ episodes }) => at.map((step) => rewardAt(step, episodes)));
    this.#chart?.set([at, ...rewards]);
    byId("compare-table").replaceChildren(...results.map(row));
  }

  /** @param {string} text */
  #say(text) {
    byId("compare-said").textContent = text;
    announce(text);
  }
}

/** @param {string} name */
function rank(name) {
  const index = CHOSEN.indexOf(name);
  return index < 0 ? CHOSEN.length - 1.5 : index;
}

/** @param {string} name */
function title(name) {
  return name === OWN ? "Your rules" : words(name);
}

/** @param {string} name */
function choice(name) {
  const box = el("input", { type: "checkbox", value: name, checked: CHOSEN.includes(name) });
  return { name, box, label: el("label", { class: "check" }, box, title(name)) };
}

/**
 * Return a row of the table of means.
 * @param {Result} result
 * @param {number} index
 */
function row({ name, episodes, reasons }, index) {
  const steps = episodes.flat();
  const swatch = el("span", { class: `swatch ${COLOURS[index]}` });
  const heading = el("th", { scope: "row" }, swatch, title(name));
  const why = [...reasons].map(sentence).join(" ");
  if (why) heading.append(el("p", { class: "quiet", text: why }));
  const cells = ["reward", "revenue", ...TERMS.slice(1).map(([key]) => key)].map((key) =>
    el("td", { text: fixed(mean(steps.map((step) => step[key])), 3), data: { key } }),
  );
  const rewards = episodes.filter((each) => each.length).map((each) => mean(each.map((step) => step.reward)));
  if (rewards.length > 1) cells[0].append(el("p", { class: "quiet", text: intervalInWords(rewards) }));
  return el("tr", { data: { name } }, heading, ...cells);
}

/**
 * Return the mean score at a step over the seeds that have been played so far; null if there is none.
 * @param {number} step From 1.
 * @param {Record<string, number>[][]} episodes
 */
function rewardAt(step, episodes) {
  const rewards = episodes.flatMap((each) => (each[step - 1] ? [each[step - 1].reward] : []));
  return rewards.length ? mean(rewards) : null;
}
