/** The par line: what other designers score on the bidders and the seed of the visitor's episode. */

import { api, explain } from "./api.js";
import { byId, el } from "./dom.js";
import { fixed, mean, words } from "./format.js";
import { sideGame } from "./side_episode.js";
/** @import { Session } from "./session.js" */

const TRAINED = "trained";
const PARS = ["random", "informed_greedy", TRAINED];

/** The line under the score. The others play once the visitor has played a step. */
export class Par {
  /** @type {AbortController|null} */
  #abort = null;
  /** @type {Map<string, number[]>} The score of each step, by designer. */
  #rewards = new Map();

  /**
   * @param {{name: string}[]} designers
   * @param {Session} session
   */
  constructor(designers, session) {
    this.names = PARS.filter((name) => designers.some((each) => each.name === name));
    this.session = session;
    this.box = byId("par");
  }

  /** Forget the numbers that were played. */
  clear() {
    this.#abort?.abort();
    this.#abort = null;
    this.#rewards = new Map();
    this.#show();
  }

  /** Bring the line up to date after a step. */
  async follow() {
    this.#show();
    if (this.#abort || !this.session.touched || alone()) return;
    const abort = (this.#abort = new AbortController());
    try {
      for (const name of await this.#ready()) await this.#play(name, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.clear(); // the next step tries again
      byId("par-of").textContent = `No comparison: ${explain(error)}`;
    }
  }

  /** Return the names of those that can play. */
  async #ready() {
    const { status } = await api.designerStatus();
    const names = this.names.filter((name) => name !== TRAINED || status === "ready");
    for (const name of names) this.#rewards.set(name, []);
    return names;
  }

  /**
   * @param {string} name
   * @param {AbortSignal} signal
   */
  async #play(name, signal) {
    const { id: own, options, state } = this.session;
    const id = `${own}:par`;
    const plan = { id, options, length: state?.episode_length ?? 0, signal };
    const rewards = this.#rewards.get(name) ?? [];
    let stoodIn = false;
    const decide = async () => {
      const { mechanism, source } = await api.design(id, name, signal);
      stoodIn ||= source === "fallback";
      return mechanism;
    };
    for await (const { reward } of sideGame(plan, decide)) {
      if (signal.aborted) return;
      if (stoodIn) this.#rewards.delete(name); // these would be the heuristic designer's numbers
      if (stoodIn) break;
      rewards.push(reward);
      this.#show();
    }
    this.#show();
  }

  #show() {
    const own = this.session.steps.map(({ reward }) => reward);
    this.box.hidden = !this.session.touched || alone();
    if (this.box.hidden) return;
    const steps = own.length === 1 ? "the first step" : `the first ${own.length} steps`;
    byId("par-of").textContent =
      `Mean ${this.session.scoreName} over ${steps}, with the same bidders and the same seed`;
    const rows = [entry("This episode", own, own.length)];
    for (const [name, rewards] of this.#rewards) {
      rows.push(entry(words(name), rewards, own.length));
    }
    byId("par-list").replaceChildren(...rows);
  }
}

/** Whether nobody plays beside: the tour sets the rules, or a model bids and would be asked more. */
function alone() {
  return ["touring", "asked"].some((name) => document.body.classList.contains(name));
}

/**
 * @param {string} name
 * @param {number[]} rewards
 * @param {number} steps
 */
function entry(name, rewards, steps) {
  const known = rewards.length >= steps;
  const value = known ? mean(rewards.slice(0, steps)) : 0;
  const number = el("output", { text: known ? fixed(value) : "…" });
  const bar = el("progress", { max: 1, value, "aria-hidden": "true" });
  return el("div", {}, el("dt", { text: name }), el("dd", {}, number, bar));
}
