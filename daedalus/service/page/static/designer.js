/** Who sets the rules: the visitor, or a designer that is asked before every step. */

import { api } from "./api.js";
import { byId, el } from "./dom.js";
import { duration, sentence, words } from "./format.js";

const AGAIN = 2000; // milliseconds until a designer that is being loaded is looked at again

const SOURCES = {
  ai: "made by the trained model",
  fallback: "made by written rules, in the model's place",
  rule: "made by a rule, not by a model",
};

/** The choice of a designer, and what it answered. */
export class DesignerPanel {
  /**
   * @param {{name: string, meaning: string}[]} designers
   * @param {import("./rules.js").Rules} rules
   */
  constructor(designers, rules) {
    this.designers = designers;
    this.rules = rules;
    this.choice = byId("designer");
    const option = ({ name }) => el("option", { value: name, text: words(name) });
    this.choice.replaceChildren(...designers.map(option));
    this.choice.addEventListener("change", () => this.#changed());
    for (const radio of document.querySelectorAll("input[name=who]")) {
      radio.addEventListener("change", () => this.#changed());
    }
    this.#changed();
    this.#watchStatus();
  }

  /** Whether a designer is asked. */
  get active() {
    return byId("who-designer").checked;
  }

  /** Hand the rules to the visitor or to a designer. */
  hand(toDesigner) {
    byId(toDesigner ? "who-designer" : "who-you").checked = true;
    this.#changed();
  }

  /**
   * Return the mechanism of the next step, and who made it.
   * @param {import("./session.js").Session} session
   */
  async decide(session) {
    if (!this.active) return { mechanism: this.rules.mechanism, source: "you" };
    const name = this.choice.value;
    byId("design-wait").hidden = false;
    try {
      const answer = await session.alive(() => api.design(session.id, name));
      this.rules.set(answer.mechanism);
      this.#show(answer);
      return { mechanism: answer.mechanism, source: sourceInWords(name, answer) };
    } finally {
      byId("design-wait").hidden = true;
    }
  }

  #changed() {
    this.rules.enable(!this.active);
    byId("designer-choice").hidden = !this.active;
    const { meaning } = this.designers.find(({ name }) => name === this.choice.value);
    byId("designer-meaning").textContent = sentence(meaning);
  }

  #show(answer) {
    byId("design").hidden = false;
    const badge = byId("design-source");
    badge.textContent = words(answer.source);
    badge.className = `badge ${answer.source}`;
    byId("design-summary").textContent = `${SOURCES[answer.source]} in ${duration(answer.latency)}`;
    const why = byId("design-why");
    why.hidden = !answer.error;
    why.textContent = answer.error ? `Why: ${sentence(answer.error)}` : "";
    byId("design-text").textContent = answer.text ?? JSON.stringify(answer.mechanism, null, 1);
  }

  async #watchStatus() {
    const line = byId("designer-status");
    try {
      const { status, error } = await api.designerStatus();
      line.textContent = error ? sentence(error) : "The trained designer is ready.";
      if (status === "loading") setTimeout(() => this.#watchStatus(), AGAIN);
    } catch {
      line.textContent = "";
    }
  }
}

function sourceInWords(name, { source }) {
  if (source === "fallback") return `${words(name)} (fallback)`;
  return source === "ai" ? `${words(name)} (AI)` : words(name);
}
