/** Who is who: hidden until the visitor asks. */

import { api } from "./api.js";
import { byId, set } from "./dom.js";

/** The button that shows types and the owners of false names. */
export class Reveal {
  /**
   * @param {import("./session.js").Session} session
   * @param {import("./arena.js").Arena} arena
   */
  constructor(session, arena) {
    Object.assign(this, { session, arena, on: false });
  }

  /** Show what is hidden, or hide it again. */
  async toggle() {
    this.on = !this.on;
    await this.refresh();
  }

  /** Hide, without drawing: a new episode begins. */
  reset() {
    this.on = false;
    return this.refresh();
  }

  /** Bring the arena up to date. */
  async refresh() {
    set(byId("reveal"), { "aria-pressed": String(this.on) });
    byId("reveal-word").textContent = this.on ? "Hide types" : "Reveal types";
    if (!this.on) return this.arena.reveal(null);
    const { session } = this;
    const told = await session.alive(() => api.reveal(session.id));
    if (this.on) this.arena.reveal(told.bidders, told.false_names);
  }
}
