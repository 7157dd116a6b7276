/** The bidders' types and values: hidden until the visitor asks. */

import { api } from "./api.js";
import { byId, set } from "./dom.js";
/** @import { ArenaView } from "./arena_view.js" */
/** @import { Session } from "./session.js" */

/** The button that shows the types of the bidders and the owners of false names. */
export class Reveal {
  /**
   * @param {Session} session
   * @param {ArenaView} arena
   */
  constructor(session, arena) {
    this.session = session;
    this.arena = arena;
    this.on = false;
  }

  /** Show the types, or hide them again. */
  async toggle() {
    this.on = !this.on;
    await this.refresh();
  }

  /** Hide the types: a new episode begins. */
  reset() {
    this.on = false;
    return this.refresh();
  }

  /** Bring the arena up to date. */
  async refresh() {
    set(byId("reveal"), { "aria-pressed": String(this.on) });
    byId("reveal-word").textContent = this.on ? "Hide types" : "Reveal types";
    if (!this.on) {
      this.arena.reveal(null);
      return;
    }
    const told = await this.told();
    if (this.on) this.arena.reveal(told);
  }

  /** Return the hidden side of the last step; null while it stays hidden. */
  async told() {
    const { session } = this;
    return this.on ? session.alive(() => api.reveal(session.id)) : null;
  }
}
