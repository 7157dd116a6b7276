/** One visitor's episode. It survives reloads, and is rebuilt if the server no longer has it. */

import { api, ApiError } from "./api.js";
import { mean, scoreName } from "./format.js";
import { unkept } from "./unkept_wins.js";

const KEY = "daedalus.episode";
const STEPS_SHOWN = 4; // where a step has five rounds, as far as a designer looks back
const PATIENCE = 2000; // milliseconds in which a page that is being reloaded gives its session up
const OPENING = "the page"; // who sets the rules of a first step that nobody asked for

/** @typedef {wire.ArenaRound & {unkept: boolean[]}} Round */

/**
 * @typedef {Object} Step
 * @property {wire.Mechanism} mechanism The rules of the step.
 * @property {string} source Says in words where the rules came from.
 * @property {number} reward
 * @property {wire.Scores} scores
 * @property {number} revenue Mean over the rounds that are scored, in units of value.
 * @property {number} scored Number of rounds at the end of the step whose means are its scores.
 * @property {Round[]} rounds
 */

/** @typedef {Pick<Storage, "getItem"|"setItem"|"removeItem">} Store */

/**
 * Return this tab's storage. Some browsers forbid it to pages inside other pages; then return a
 * storage that stores nothing.
 * @returns {Store}
 */
export function tabStorage() {
  try {
    return window.sessionStorage;
  } catch {
    return { getItem: () => null, setItem: () => {}, removeItem: () => {} };
  }
}

/** The visitor's session. Events: `begin` and `rebuilt`; `asking` and `answered` around a step. */
export class Session extends EventTarget {
  /** @param {Store} storage Holds the episode of this tab. */
  constructor(storage) {
    super();
    this.storage = storage;
    this.id = newName();
    held(this.id);
    /** @type {Partial<wire.EpisodeOptions>} */
    this.options = {};
    /** @type {Step[]} */
    this.steps = [];
    /** @type {wire.DaedalusState|null} Null before the first episode. */
    this.state = null;
    /** @type {wire.Mechanism|null} The rules under which the market began. */
    this.incumbent = null;
  }

  /** Whether the episode has ended. */
  get done() {
    return this.steps.length >= (this.state?.episode_length ?? Infinity);
  }

  /** Whether any step is the visitor's own, or a link's. */
  get touched() {
    return this.steps.some(({ source }) => source !== OPENING);
  }

  /** What texts call the score of the episode. */
  get scoreName() {
    return scoreName(this.state?.objective);
  }

  /** The rounds of the last four steps, oldest first. */
  get recent() {
    return this.steps.slice(-STEPS_SHOWN).flatMap(({ rounds }) => rounds);
  }

  /**
   * Begin an episode.
   * @param {Partial<wire.EpisodeOptions>} options
   * @param {wire.Mechanism[]} [played] The rules of its first steps, which are played at once.
   * @param {wire.Mechanism|null} [opening] The rules of a first step, for something to look at. An
   *   episode of one step has none, or nothing would be left to play.
   */
  async begin(options, played = [], opening = null) {
    await api.reset(this.id, options);
    this.state = await api.state(this.id);
    this.options = { ...options, seed: this.state.seed };
    this.incumbent = this.state.mechanism;
    this.steps = [];
    try {
      for (const mechanism of played) await this.step(mechanism, "the link");
      if (opening && this.state.episode_length > 1) await this.step(opening, OPENING);
    } finally {
      this.#save();
      this.dispatchEvent(new Event("begin"));
    }
  }

  /**
   * Go on with the episode that this tab has saved.
   * @returns {Promise<boolean>} False if there is none that this server can play.
   */
  async resume() {
    const saved = JSON.parse(this.storage.getItem(KEY) ?? "null");
    if (!saved) return false;
    ({ id: this.id, options: this.options, incumbent: this.incumbent, steps: this.steps } = saved);
    const own = await held(this.id, AbortSignal.timeout(PATIENCE)); // or this tab is the copy of another
    try {
      this.state = await this.alive(() => api.state(this.id));
      if (!own || this.state.step_count !== this.steps.length) await this.#rebuild(newName());
    } catch (error) {
      Object.assign(this, { options: {}, steps: [], state: null }); // no episode has begun
      if (!(error instanceof ApiError && [422, 502].includes(error.status))) throw error;
      return false; // this server does not offer that population or market, or its model is gone
    }
    this.dispatchEvent(new Event("begin"));
    return true;
  }

  /**
   * Play a step.
   * @param {wire.Mechanism} mechanism
   * @param {string} source Says in words where the mechanism came from.
   * @returns {Promise<Step>}
   */
  async step(mechanism, source) {
    this.dispatchEvent(new Event("asking"));
    const answer = await this.#play(mechanism).finally(() => this.dispatchEvent(new Event("answered")));
    const step = asStep(mechanism, source, answer, await api.arena(this.id));
    this.steps.push(step);
    this.#save();
    return step;
  }

  /** @param {wire.Mechanism} mechanism */
  async #play(mechanism) {
    const answer = await this.alive(() => api.step(this.id, mechanism));
    if (answer.observation.round_number === this.steps.length + 1) return answer;
    await this.#rebuild(newName()); // another tab plays in the same session
    return api.step(this.id, mechanism);
  }

  /**
   * Call the API. If the server has lost the session, rebuild it and call again.
   * @template Answer
   * @param {() => Promise<Answer>} call
   * @returns {Promise<Answer>}
   */
  async alive(call) {
    try {
      return await call();
    } catch (error) {
      const begun = this.options.seed !== undefined;
      if (!begun || !(error instanceof ApiError && error.lost)) throw error;
      await this.#rebuild(this.id);
      return call();
    }
  }

  /**
   * Play the episode again up to here. The same seed and rules give the same episode, so that
   * nothing is lost with a session.
   * @param {string} id Names the new session.
   */
  async #rebuild(id) {
    if (id !== this.id) held(id);
    this.id = id;
    await api.reset(id, this.options);
    for (const step of this.steps) await api.step(id, step.mechanism);
    this.state = await api.state(id);
    this.#save();
    this.dispatchEvent(new Event("rebuilt"));
  }

  #save() {
    const { id, options, incumbent } = this;
    const old = this.steps.length - STEPS_SHOWN;
    const steps = this.steps.map((step, index) => (index < old ? { ...step, rounds: [] } : step));
    try {
      this.storage.setItem(KEY, JSON.stringify({ id, options, incumbent, steps }));
    } catch {
      this.storage.removeItem(KEY); // too long for the browser: a reload begins a new episode
    }
  }
}

/**
 * Hold a session's name for this tab, for as long as it is open. The copy of a tab has its storage,
 * and so its session.
 * @param {string} id
 * @param {AbortSignal} [patience] Ends the wait for a name that another tab may hold. A new name has
 *     none: a busy browser may take long to grant even that.
 * @returns {Promise<boolean>} False if another tab holds it. Browsers tell so on secure pages alone.
 */
async function held(id, patience) {
  if (!navigator.locks) return true;
  const options = patience ? { signal: patience } : {};
  return new Promise((resolve) => {
    const hold = () => new Promise(() => resolve(true));
    const refused = (/** @type {Error} */ { name }) => resolve(name !== "TimeoutError");
    navigator.locks.request(`daedalus.${id}`, options, hold).catch(refused);
  });
}

function newName() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("-");
}

/**
 * Return a step as the page shows it.
 * @param {wire.Mechanism} mechanism
 * @param {string} source
 * @param {wire.StepAnswer} answer
 * @param {wire.Arena} arena
 * @returns {Step}
 */
export function asStep(mechanism, source, answer, arena) {
  const rounds = arena.rounds.map((round) => ({ ...round, unkept: unkept(round, mechanism) }));
  const { scores } = answer.info;
  const { scored } = arena;
  return { mechanism, source, reward: answer.reward, scores, revenue: revenueOf(arena), scored, rounds };
}

/**
 * Return the mean revenue of a step over the rounds that are scored.
 * @param {wire.Arena} arena
 */
export function revenueOf({ rounds, scored }) {
  return mean(rounds.slice(-scored).map(({ revenue }) => revenue));
}
