/** The log of steps: what changed, where the change came from, and the score. */

import { changesInWords } from "./controls.js";
import { byId, el } from "./dom.js";
import { fixed, mean } from "./format.js";
/** @import { Controls } from "./controls.js" */
/** @import { Step } from "./session.js" */

/** The table of steps, the latest first. */
export class Log {
  /** @param {Controls} controls */
  constructor(controls) {
    this.controls = controls;
    this.body = byId("log");
    /** @type {Step[]} */
    this.steps = [];
    this.incumbent = controls.defaults;
    this.scoreName = "R";
  }

  /**
   * Write all steps anew.
   * @param {Step[]} steps
   * @param {wire.Mechanism|null} incumbent The rules before the first step; null takes the defaults.
   * @param {string} scoreName What texts call the score.
   */
  load(steps, incumbent, scoreName) {
    this.steps = [];
    this.scoreName = scoreName;
    this.incumbent = incumbent ?? this.controls.defaults;
    this.body.replaceChildren();
    byId("log-mean").textContent = "";
    for (const step of steps) this.add(step);
    byId("log-empty").hidden = steps.length > 0;
  }

  /**
   * Write a step.
   * @param {Step} step
   */
  add(step) {
    const before = this.steps.at(-1)?.mechanism ?? this.incumbent;
    const changes = this.changes(before, step.mechanism);
    this.steps.push(step);
    byId("log-empty").hidden = true;
    const score = fixed(mean(this.steps.map((s) => s.reward)), 3);
    byId("log-mean").textContent = `mean ${this.scoreName} ${score}`;
    this.body.prepend(
      el(
        "tr",
        {},
        el("th", { scope: "row", text: String(this.steps.length) }),
        el("td", { text: step.source }),
        el("td", {}, changeList(changes)),
        el("td", { class: "figure-cell" }, bar(step.reward), fixed(step.reward, 3)),
        el("td", { class: "revenue", text: fixed(step.revenue) }),
      ),
    );
  }

  /**
   * Return what changed, in words; empty if nothing did.
   * @param {wire.Mechanism} before
   * @param {wire.Mechanism} after
   */
  changes(before, after) {
    return changesInWords(before, after, this.controls.changed(before, after));
  }
}

/** @param {string[]} changes */
function changeList(changes) {
  if (!changes.length) return el("span", { class: "quiet", text: "nothing" });
  return el("ul", { class: "changes" }, ...changes.map((text) => el("li", { text })));
}

/** @param {number} value 0 to 1. */
function bar(value) {
  return el("progress", { max: 1, value, "aria-hidden": "true" });
}
