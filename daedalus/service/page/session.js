/** One visitor's episode: kept over reloads, and rebuilt from its seed if the server forgot it. */

import { api } from "./api.js";

const KEY = "daedalus.episode";
const RECENT = 20; // rounds, as many as a designer looks back

/**
 * @typedef {Object} Step
 * @property {Object} mechanism What was in force.
 * @property {string} source Who set it.
 * @property {number} reward
 * @property {Object<string, number>} scores
 * @property {number} revenue Mean over the step's rounds, in units of value.
 * @property {Object[]} rounds
 */

/** The visitor's session. Events: `begin`, `step` (detail: the step), `rebuilt`. */
export class Session extends EventTarget {
  /** @param {Storage} storage Keeps the episode of this tab. */
  constructor(storage) {
    super();
    this.storage = storage;
    this.id = crypto.randomUUID();
    this.options = {};
    this.steps = [];
    this.state = null;
  }

  /** Whether the episode has ended. */
  get done() {
    return this.steps.length >= (this.state?.episode_length ?? Infinity);
  }

  /** The latest 20 rounds, oldest first. */
  get recent() {
    const last = this.steps.slice(-Math.ceil(RECENT / 5)).flatMap((step) => step.rounds);
    return last.slice(-RECENT);
  }

  /** Whom else this visitor asks to play, for comparisons. */
  get sideId() {
    return `${this.id}:compare`;
  }

  /** Begin an episode: `population`, `market`, `n_agents`, `episode_length` and `seed`, or null. */
  async begin(options) {
    await api.reset(this.id, options);
    this.state = await api.state(this.id);
    this.options = { ...options, seed: this.state.seed };
    this.steps = [];
    this.#keep();
    this.dispatchEvent(new Event("begin"));
  }

  /** Go on with what this tab kept; false if there is nothing. */
  async resume() {
    const kept = JSON.parse(this.storage.getItem(KEY) ?? "null");
    if (!kept) return false;
    Object.assign(this, { id: kept.id, options: kept.options, steps: kept.steps });
    this.state = await this.alive(() => api.state(this.id));
    if (this.state.step_count !== this.steps.length) await this.#rebuild(crypto.randomUUID());
    this.dispatchEvent(new Event("begin"));
    return true;
  }

  /** Play a step under a mechanism that `source` set. */
  async step(mechanism, source) {
    let answer = await this.alive(() => api.step(this.id, mechanism));
    if (answer.observation.round_number !== this.steps.length + 1) {
      await this.#rebuild(crypto.randomUUID()); // another tab plays under this name
      answer = await api.step(this.id, mechanism);
    }
    const { rounds } = await api.arena(this.id);
    this.steps.push(asStep(mechanism, source, answer, rounds));
    this.#keep();
    this.dispatchEvent(new CustomEvent("step", { detail: this.steps.at(-1) }));
  }

  /** Call the API; if the server has lost the session, rebuild it and call again. */
  async alive(call) {
    try {
      return await call();
    } catch (error) {
      if (!error.lost) throw error;
      await this.#rebuild(this.id);
      return call();
    }
  }

  /** Same seed and same rules give the same episode, so that nothing is lost with a session. */
  async #rebuild(id) {
    this.id = id;
    await api.reset(id, this.options);
    for (const step of this.steps) await api.step(id, step.mechanism);
    this.state = await api.state(id);
    this.#keep();
    this.dispatchEvent(new Event("rebuilt"));
  }

  #keep() {
    const { id, options, steps } = this;
    try {
      this.storage.setItem(KEY, JSON.stringify({ id, options, steps }));
    } catch {
      this.storage.removeItem(KEY); // too long for the browser: play on, a reload begins anew
    }
  }
}

function asStep(mechanism, source, answer, rounds) {
  const revenue = rounds.reduce((sum, round) => sum + round.revenue, 0) / rounds.length;
  const { scores } = answer.info;
  return { mechanism, source, reward: answer.reward, scores, revenue, rounds };
}
