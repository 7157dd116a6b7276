/** Bidders that a language model plays: who bids, rules to begin with, and a word while it is asked. */

import { byId, el } from "./dom.js";
import { words } from "./format.js";

/** @import { Controls } from "./controls.js" */
/** @import { Session } from "./session.js" */

/** What the page says of the language model that bids, if one does. */
export class Asked {
  /**
   * @param {wire.PopulationOnOffer[]} populations
   * @param {Session} session
   * @param {Controls} controls
   */
  constructor(populations, session, controls) {
    this.populations = populations;
    this.controls = controls;
    session.addEventListener("begin", () => this.#show(this.of(session.options)));
    session.addEventListener("asking", () => this.#wait(this.of(session.options)));
    session.addEventListener("answered", () => this.#wait(null));
  }

  /**
   * Return the bidders of an episode, if a language model plays them.
   * @param {Partial<wire.EpisodeOptions>} options
   */
  of({ population }) {
    return this.populations.find(({ name }) => name === population)?.asked ?? null;
  }

  /**
   * Return the rules of a first step.
   * @param {Partial<wire.EpisodeOptions>} options
   * @returns {wire.Mechanism}
   */
  opening(options) {
    return this.of(options)?.rules[0]?.mechanism ?? this.controls.defaults;
  }

  /** @param {wire.AskedBidders|null} asked */
  #show(asked) {
    byId("asked").hidden = !asked;
    document.body.classList.toggle("asked", asked !== null);
    if (!asked) return;
    byId("asked-rules").replaceChildren(...asked.rules.map((each) => this.#button(each)));
    if (asked.recorded && !asked.rules.some(({ mechanism }) => this.#shown(mechanism))) {
      this.controls.set(asked.rules[0].mechanism); // the visitor's own would be refused
    }
  }

  /** @param {wire.NamedRules} rules */
  #button({ name, mechanism }) {
    const click = () => this.controls.set(mechanism);
    return el("button", { type: "button", text: words(name), on: { click } });
  }

  /** @param {wire.Mechanism} mechanism */
  #shown(mechanism) {
    return this.controls.changed(mechanism, this.controls.mechanism).length === 0;
  }

  /** @param {wire.AskedBidders|null} asked */
  #wait(asked) {
    byId("asking").hidden = !asked || asked.recorded;
    if (asked) byId("asking").textContent = `Asking ${asked.model} for its bids …`;
  }
}

/** @param {wire.AskedBidders} asked */
export function told({ model, recorded }) {
  const how = recorded
    ? "Its answers are recorded for a few rules, and others are refused."
    : "It is asked live, so that a step may take a minute.";
  return `${model}, a language model, bids. ${how}`;
}
