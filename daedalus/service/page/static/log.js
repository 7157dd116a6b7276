/** The mechanism log: each step, what changed, who changed it, and what it scored. */

import { byId, el } from "./dom.js";
import { fixed, mean } from "./format.js";
import { changesInWords } from "./rules.js";

/** The table of steps, the latest first. */
export class Log {
  /** @param {import("./rules.js").Rules} rules */
  constructor(rules) {
    this.rules = rules;
    this.body = byId("log");
  }

  /** Write all steps anew. */
  load(steps) {
    this.steps = [];
    this.body.replaceChildren();
    for (const step of steps) this.add(step);
    byId("log-empty").hidden = steps.length > 0;
  }

  /** Write a step. */
  add(step) {
    const before = this.steps.at(-1)?.mechanism ?? this.rules.defaults;
    const changes = this.changes(before, step.mechanism);
    this.steps.push(step);
    byId("log-empty").hidden = true;
    byId("log-mean").textContent = `mean R ${fixed(mean(this.steps.map((s) => s.reward)), 3)}`;
    this.body.prepend(
      el(
        "tr",
        {},
        el("th", { scope: "row", text: String(this.steps.length) }),
        el("td", { text: step.source }),
        el("td", {}, changeList(changes)),
        el("td", { class: "figure-cell" }, bar(step.reward), fixed(step.reward, 3)),
      ),
    );
  }

  /** Return what changed, in words; empty if nothing did. */
  changes(before, after) {
    return changesInWords(before, after, this.rules.changed(before, after));
  }
}

function changeList(changes) {
  if (!changes.length) return el("span", { class: "quiet", text: "nothing" });
  return el("ul", { class: "changes" }, ...changes.map((text) => el("li", { text })));
}

function bar(value) {
  return el("progress", { max: 1, value, "aria-hidden": "true" });
}
