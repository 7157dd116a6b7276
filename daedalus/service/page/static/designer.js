/** Hands the rules to a designer: the page asks it before every step. */

import { api } from "./api.js";
import { byId, el } from "./dom.js";
import { duration, sentence, shown, words } from "./format.js";
/** @import { Controls } from "./controls.js" */
/** @import { Session } from "./session.js" */

const AGAIN = 2000; // milliseconds between two looks at a designer that is being loaded

const SOURCES = {
  ai: "Rules from the trained model",
  fallback: "Rules from the heuristic designer in its place",
  rule: "Rules from this designer, without a model",
};

/** The choice of a designer, and its answer. */
export class DesignerPanel {
  /**
   * @param {wire.Meaning[]} designers
   * @param {Controls} controls
   */
  constructor(designers, controls) {
    this.designers = designers;
    this.controls = controls;
    this.choice = byId("designer", HTMLSelectElement);
    this.radios = {
      visitor: byId("who-you", HTMLInputElement),
      designer: byId("who-designer", HTMLInputElement),
    };
    const options = designers.map(({ name }) => el("option", { value: name, text: words(name) }));
    this.choice.replaceChildren(...options);
    for (const control of [this.choice, ...Object.values(this.radios)]) {
      control.addEventListener("change", () => this.#changed());
    }
    this.#changed();
    this.#watchStatus();
  }

  /** Whether a designer sets the rules. */
  get active() {
    return this.radios.designer.checked;
  }

  /**
   * Hand the rules to a designer, or to the visitor.
   * @param {boolean} toDesigner
   */
  hand(toDesigner) {
    this.radios[toDesigner ? "designer" : "visitor"].checked = true;
    this.#changed();
  }

  /**
   * Return the mechanism of the next step, and its source in words.
   * @param {Session} session
   */
  async decide(session) {
    if (!this.active) return { mechanism: this.controls.mechanism, source: "you" };
    const name = this.choice.value;
    byId("design-wait").hidden = false;
    try {
      const answer = await session.alive(() => api.design(session.id, name));
      this.controls.lend(answer.mechanism);
      this.#show(answer);
      return { mechanism: answer.mechanism, source: sourceInWords(name, answer) };
    } finally {
      byId("design-wait").hidden = true;
    }
  }

  /** Take the last answer away: another episode begins, or another designer is asked. */
  clear() {
    byId("design").hidden = true;
  }

  #changed() {
    this.clear();
    this.controls.enable(!this.active);
    if (!this.active) this.controls.giveBack();
    byId("designer-choice").hidden = !this.active;
    const chosen = this.designers.find(({ name }) => name === this.choice.value);
    byId("designer-meaning").textContent = chosen ? sentence(chosen.meaning) : "";
  }

  /** @param {wire.DesignAnswer} answer */
  #show(answer) {
    byId("design").hidden = false;
    const badge = byId("design-source");
    badge.textContent = words(answer.source);
    badge.className = `badge ${answer.source}`;
    byId("design-summary").textContent = `${SOURCES[answer.source]}, in ${duration(answer.latency)}`;
    const why = byId("design-why");
    why.hidden = !answer.error;
    const noted = byId("design-note");
    noted.hidden = !answer.note;
    noted.textContent = answer.note ? sentence(answer.note) : "";
    why.textContent = answer.error ? `Why: ${sentence(answer.error)}` : "";
    byId("design-answer").hidden = answer.text === null;
    byId("design-wrote").textContent = answer.text === "" ? "It wrote nothing" : "It wrote";
    byId("design-text").textContent = answer.text;
    byId("design-applied").textContent = inLines(answer.mechanism);
  }

  async #watchStatus() {
    const text = byId("designer-status");
    try {
      const { status, error } = await api.designerStatus();
      text.textContent = error ? sentence(error) : "The trained designer is ready.";
      if (status === "loading") setTimeout(() => this.#watchStatus(), AGAIN);
    } catch {
      text.textContent = "";
    }
  }
}

/**
 * Return a mechanism in words, a line for each rule.
 * @param {wire.Mechanism} mechanism
 */
function inLines(mechanism) {
  return Object.entries(mechanism).map(([name, value]) => `${words(name)}: ${shown(value)}`).join("\n");
}

/**
 * @param {string} name Of the designer.
 * @param {wire.DesignAnswer} answer
 */
function sourceInWords(name, { source }) {
  if (source === "fallback") return `${words(name)} (fallback)`;
  return source === "ai" ? `${words(name)} (AI)` : words(name);
}
