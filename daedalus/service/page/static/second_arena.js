/** The second arena: the same rounds as in the visitor's episode, under other rules. */

import { api } from "./api.js";
import { byId } from "./dom.js";
import { asStep } from "./session.js";
import { sideGame } from "./side_episode.js";
/** @import { ArenaView } from "./arena_view.js" */
/** @import { Session, Step } from "./session.js" */

/** Plays beside the visitor's episode, step by step. */
export class Twin {
  /** @type {AsyncGenerator<wire.StepAnswer>|null} */
  #game = null;
  #id = "";
  /** @type {Step[]} Those that are shown. */
  steps = [];

  /**
   * @param {ArenaView} arena
   * @param {(step: Step) => void} onStep Called when a step has been shown.
   */
  constructor(arena, onStep) {
    this.arena = arena;
    this.onStep = onStep;
  }

  /** Whether the second arena is on the page. */
  get open() {
    return this.#game !== null;
  }

  /**
   * Play the visitor's episode again up to here, under one mechanism. The same seed gives the same
   * bidders and the same values.
   * @param {Session} session
   * @param {wire.Mechanism} mechanism
   * @returns {Promise<boolean>} False if it was closed meanwhile.
   */
  async begin({ id: own, options, state, steps }, mechanism) {
    const length = state?.episode_length ?? 0;
    const { signal } = new AbortController();
    const id = (this.#id = `${own}:twin`);
    this.mechanism = mechanism;
    const game = (this.#game = sideGame({ id, options, length, signal }, () => mechanism));
    for (let step = 0; step < steps.length; step += 1) {
      await game.next();
      if (game !== this.#game) return false;
    }
    this.#frame(true);
    this.arena.seat(state?.n_agents ?? 0);
    return true;
  }

  /**
   * Play and show the next step.
   * @param {() => number} speed
   * @param {boolean} revealed Whether to show types and values.
   */
  async play(speed, revealed) {
    const next = await this.#game?.next();
    if (!next || next.done || !this.mechanism) return;
    const step = asStep(this.mechanism, "the old rules", next.value, await api.arena(this.#id));
    await this.arena.play(step.rounds, speed, revealed ? await api.reveal(this.#id) : null);
    this.steps.push(step);
    this.onStep(step);
  }

  /** Take the second arena away. */
  close() {
    this.#game = null;
    this.steps = [];
    this.arena.hurry();
    this.#frame(false);
  }

  /** @param {boolean} shown */
  #frame(shown) {
    byId("twin-frame").hidden = !shown;
    document.body.classList.toggle("paired", shown);
  }
}
