/** Designers and the visitor's own rules, one after the other on the same seed. */

import { api } from "./api.js";
import { lineChart } from "./charts.js";
import { byId, el } from "./dom.js";
import { fixed, mean, sentence, words } from "./format.js";
import { announce, guarded } from "./notices.js";
import { TERMS } from "./scores.js";

const OWN = "own";
const CHOSEN = ["random", "informed_greedy", "trained", OWN];
const COLOURS = ["compare-1", "compare-2", "compare-3", "compare-4", "compare-5"];

/** The section that compares. */
export class Compare {
  #abort = null;

  /**
   * @param {{name: string}[]} designers
   * @param {import("./session.js").Session} session
   * @param {import("./rules.js").Rules} rules
   */
  constructor(designers, session, rules) {
    Object.assign(this, { session, rules });
    const names = [...designers.map(({ name }) => name), OWN];
    names.sort((one, other) => rank(one) - rank(other));
    this.boxes = names.map(choice);
    byId("compare-who").append(...this.boxes.map(({ label }) => label));
    byId("compare-run").addEventListener("click", guarded(() => this.run()));
    byId("compare-cancel").addEventListener("click", () => this.#abort?.abort());
  }

  /** Play one episode for each who is chosen; what has been played stays if it is cancelled. */
  async run() {
    const names = this.boxes.filter(({ box }) => box.checked).map(({ name }) => name);
    if (!names.length) return this.#say("Choose at least one to compare.");
    this.#abort = new AbortController();
    const results = names.map((name) => ({ name, steps: [], reasons: new Set() }));
    const { sideId: id, options, state } = this.session; // as they are now, whatever comes
    const plan = { id, options, length: state.episode_length, own: this.rules.mechanism };
    this.#begin(results, state);
    try {
      for (const result of results) await this.#play(result, plan, results);
      this.#say(`Done: ${results.length} episodes on seed ${state.seed}.`);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      this.#say("Cancelled; what was played stays.");
    } finally {
      this.#end();
    }
  }

  async #play(result, { id, options, length, own }, results) {
    const { signal } = this.#abort;
    await api.reset(id, options, signal);
    for (let step = 0; step < length; step += 1) {
      const mechanism = await this.#decide(result, own, id, signal);
      const answer = await api.step(id, mechanism, signal);
      const { rounds } = await api.arena(id);
      const revenue = mean(rounds.map((round) => round.revenue));
      result.steps.push({ reward: answer.reward, revenue, ...answer.info.scores });
      this.#progress(results, length);
    }
  }

  async #decide({ name, reasons }, own, id, signal) {
    if (name === OWN) return own;
    const { mechanism, source, error } = await api.design(id, name, signal);
    if (source === "fallback") reasons.add(error);
    return mechanism;
  }

  #begin(results, state) {
    byId("compare-run").disabled = true;
    byId("compare-cancel").disabled = false;
    byId("compare-result").hidden = false;
    byId("compare-of").textContent =
      `${words(state.population)}, ${state.market} market, ${state.n_agents} bidders, ` +
      `${state.episode_length} steps, seed ${state.seed}`;
    const host = el("div", { class: "chart" });
    byId("compare-chart").replaceChildren(host);
    const series = results.map(({ name }, index) => ({ label: title(name), colour: COLOURS[index] }));
    this.chart = lineChart(host, series, { height: 260, range: [0, 1] });
    this.#progress(results, state.episode_length);
  }

  #end() {
    byId("compare-run").disabled = false;
    byId("compare-cancel").disabled = true;
    this.#abort = null;
  }

  #progress(results, length) {
    const played = results.reduce((sum, { steps }) => sum + steps.length, 0);
    const bar = byId("compare-progress");
    bar.max = results.length * length;
    bar.value = played;
    byId("compare-count").textContent = `${played} of ${bar.max} steps`;
    const at = Array.from({ length }, (_, index) => index + 1);
    const rewards = ({ steps }) => at.map((_, index) => steps[index]?.reward ?? null);
    this.chart.set([at, ...results.map(rewards)]);
    byId("compare-table").replaceChildren(...results.map(row));
  }

  #say(text) {
    byId("compare-said").textContent = text;
    announce(text);
  }
}

function rank(name) {
  const index = CHOSEN.indexOf(name);
  return index < 0 ? CHOSEN.length - 1.5 : index;
}

function title(name) {
  return name === OWN ? "Your rules" : words(name);
}

function choice(name) {
  const box = el("input", { type: "checkbox", value: name, checked: CHOSEN.includes(name) });
  return { name, box, label: el("label", { class: "check" }, box, title(name)) };
}

function row({ name, steps, reasons }, index) {
  const average = (key) => (steps.length ? mean(steps.map((step) => step[key])) : NaN);
  const swatch = el("span", { class: `swatch ${COLOURS[index]}` });
  const why = [...reasons].map((reason) => sentence(`fell back: ${reason}`)).join(" ");
  const name_ = el("th", { scope: "row" }, swatch, title(name));
  if (why) name_.append(el("p", { class: "quiet", text: why }));
  const cells = ["reward", ...TERMS.slice(1).map(([key]) => key), "revenue"].map((key) =>
    el("td", { text: fixed(average(key), 3), data: { key } }),
  );
  return el("tr", { data: { name } }, name_, ...cells);
}
