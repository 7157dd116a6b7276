/** One visitor's episode: kept over reloads, and rebuilt from its seed if the server forgot it. */

import { api } from "./api.js";
import { unkept } from "./unkept.js";

const KEY = "daedalus.episode";
const STEPS_SHOWN = 4; // their 20 rounds are what a designer looks back on

/**
 * @typedef {Object} Step
 * @property {Object} mechanism What was in force.
 * @property {string} source Who set it.
 * @property {number} reward
 * @property {Object<string, number>} scores
 * @property {number} revenue Mean over the step's rounds, in units of value.
 * @property {Object[]} rounds As in `/api/arena`, with `unkept`.
 */

/**
 * Return the storage of this tab, or nothing that keeps where the browser forbids it, as some do
 * for pages within others.
 * @returns {Pick<Storage, "getItem"|"setItem"|"removeItem">}
 */
export function tabStorage() {
  try {
    return window.sessionStorage;
  } catch {
    return { getItem: () => null, setItem: () => {}, removeItem: () => {} };
  }
}

/** The visitor's session. Events: `begin`, `step` (detail: the step), `rebuilt`. */
export class Session extends EventTarget {
  /** @param {Storage} storage Keeps the episode of this tab. */
  constructor(storage) {
    super();
    this.storage = storage;
    this.id = newName();
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
    return this.steps.slice(-STEPS_SHOWN).flatMap(({ rounds }) => rounds);
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
    try {
      this.state = await this.alive(() => api.state(this.id));
      if (this.state.step_count !== this.steps.length) await this.#rebuild(newName());
    } catch (error) {
      if (error.status !== 422) throw error;
      return false; // this server does not offer what the episode was made of
    }
    this.dispatchEvent(new Event("begin"));
    return true;
  }

  /** Play a step under a mechanism that `source` set. */
  async step(mechanism, source) {
    let answer = await this.alive(() => api.step(this.id, mechanism));
    if (answer.observation.round_number !== this.steps.length + 1) {
      await this.#rebuild(newName()); // another tab plays under this name
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
    const { id, options } = this;
    const seen = this.steps.length - STEPS_SHOWN;
    const steps = this.steps.map((step, index) => (index < seen ? { ...step, rounds: [] } : step));
    try {
      this.storage.setItem(KEY, JSON.stringify({ id, options, steps }));
    } catch {
      this.storage.removeItem(KEY); // too long for the browser: play on, a reload begins anew
    }
  }
}

function newName() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("-");
}

function asStep(mechanism, source, answer, told) {
  const rounds = told.map((round) => ({ ...round, unkept: unkept(round, mechanism) }));
  const revenue = rounds.reduce((sum, round) => sum + round.revenue, 0) / rounds.length;
  const { scores } = answer.info;
  return { mechanism, source, reward: answer.reward, scores, revenue, rounds };
}
