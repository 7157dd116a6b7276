/** What a seller asks for in sentences: sends it, shows what was understood, and sets the rules that were found. */

import { api, explain, isCancelled } from "./api.js";
import { BriefSentences, ruleInWords } from "./brief_sentences.js";
import { byId, el } from "./dom.js";
import { fixed, sentence, words } from "./format.js";
import { announce } from "./notices.js";
/** @import { Controls } from "./controls.js" */
/** @import { DesignerPanel } from "./designer.js" */
/** @import { Session } from "./session.js" */

const EMPTY = "Write first what the auction must do.";
const SEARCHING = "Reading and searching … this takes a few seconds, the first time longer.";
const PRICING = "Searching without each rule … this takes a few seconds for each.";
const SET = "The rules below are set to what was found. The next step plays them.";
const CHANGED = "The rules below have changed since they were set to what was found.";
const NOT_SET = "Your rules stay as they are.";
const NO_COSTS = "So no rule has its cost; ask again when the server is less busy.";
const COSTS = "A cost compares two searches in the same episodes: small ones, also below 0, are chance.";

/** @typedef {{brief: string}|{clauses: wire.GivenClause[]}} Asked */

/** The card with the text. It is hidden where the server reads no briefs. */
export class BriefPanel {
  #stopping = new AbortController();
  /** @type {Asked|null} What was answered last. */
  #asked = null;
  /** @type {wire.Mechanism|null} What was found last. */
  #rules = null;

  /**
   * @param {wire.BriefOffer|null} offer
   * @param {Session} session
   * @param {Controls} controls
   * @param {DesignerPanel} designer
   */
  constructor(offer, session, controls, designer) {
    this.session = session;
    this.controls = controls;
    this.designer = designer;
    this.text = byId("brief-text", HTMLTextAreaElement);
    this.longest = offer?.longest ?? 0;
    this.sentences = new BriefSentences(byId("brief-sentences"), offer?.meanings ?? []);
    byId("brief").hidden = offer === null;
    this.text.addEventListener("input", () => this.#count());
    for (const each of byId("brief-examples").querySelectorAll("button")) {
      each.addEventListener("click", () => this.#example(each.dataset.brief ?? ""));
    }
    submits("brief-form", () => this.#send());
    submits("brief-read", () => this.#ask({ clauses: this.sentences.clauses }, SEARCHING));
    byId("brief-prices").addEventListener("click", () => this.#price());
    this.sentences.addEventListener("change", () => this.#changed());
    session.addEventListener("begin", () => this.#begun());
    controls.addEventListener("change", () => this.#follow());
    this.#count();
  }

  /** @param {string} text */
  #example(text) {
    this.text.value = text;
    this.#count();
    this.text.focus();
  }

  #count() {
    const length = this.text.value.length;
    byId("brief-count").textContent = `${length} of ${this.longest} characters`;
    byId("brief-count").classList.toggle("why", length > this.longest);
  }

  /** What was found holds for the market and the bidders of the episode before. */
  #begun() {
    this.#stopping.abort();
    this.#changed();
  }

  #changed() {
    byId("brief-again").hidden = false;
    byId("brief-found").hidden = true;
  }

  /** Say whether the rules are still those that were found. */
  #follow() {
    if (!this.#rules) return;
    const changed = this.controls.changed(this.#rules, this.controls.mechanism).length > 0;
    byId("brief-set").textContent = changed ? CHANGED : SET;
  }

  #send() {
    const { value } = this.text;
    if (!value.trim()) return this.#say(EMPTY, true);
    if (value.length > this.longest) return this.#say(`Send ${this.longest} characters at most.`, true);
    for (const id of ["brief-read", "brief-found"]) byId(id).hidden = true; // of the text before
    return this.#ask({ brief: value }, SEARCHING);
  }

  #price() {
    if (this.#asked) this.#ask({ ...this.#asked, prices: true }, PRICING);
  }

  /**
   * Ask the server, and show its answer. A question takes the place of the one before.
   * @param {Asked & {prices?: boolean}} asked
   * @param {string} meanwhile
   */
  async #ask(asked, meanwhile) {
    this.#stopping.abort();
    const { signal } = (this.#stopping = new AbortController());
    byId("brief-wait").textContent = meanwhile;
    byId("brief-wait").hidden = false;
    this.#say("");
    try {
      const answer = await this.session.alive(() => api.brief(this.session.id, asked, signal));
      this.#asked = asked;
      if (asked.prices) this.#showRules(answer);
      else this.#show(answer);
    } catch (error) {
      if (!isCancelled(error)) this.#say(explain(error), true);
    } finally {
      if (signal === this.#stopping.signal) byId("brief-wait").hidden = true; // or the next one waits
    }
  }

  /** @param {wire.DesignAnswer} answer */
  #show(answer) {
    const { brief, source, mechanism, error } = answer;
    if (!brief) return;
    this.sentences.show(brief.sentences);
    const opposed = brief.contradictions.map(
      ({ first, second, about }) => `“${first}” and “${second}” exclude each other (${words(about)}): the second is not kept.`,
    );
    const notes = [...opposed, ...brief.notes].map((each) => el("li", { text: sentence(each) }));
    byId("brief-notes").replaceChildren(...notes);
    byId("brief-read").hidden = false;
    byId("brief-again").hidden = true;
    if (source === "fallback") {
      byId("brief-found").hidden = true;
      return this.#say(`${sentence(error ?? "nothing was found")} ${NOT_SET}`, true);
    }
    this.designer.hand(false);
    this.#rules = mechanism;
    this.controls.set(mechanism);
    this.#showRules(answer);
    return announce(`Rules found. ${SET}`);
  }

  /** @param {wire.DesignAnswer} answer */
  #showRules({ brief, note, error }) {
    if (!brief) return;
    const rules = brief.sentences.filter(({ kept }) => kept !== null);
    const priced = rules.some(({ price }) => price !== null);
    const aim = Object.entries(brief.reward).map(([name, weight]) => `${weight === 1 ? "" : `${weight} `}${aimName(name)}`);
    byId("brief-found").hidden = false;
    byId("brief-rules").replaceChildren(...rules.map(ruleEntry));
    byId("brief-aim").textContent = `Maximised: ${aim.join(" + ")}, ${fixed(brief.objective, 3)} in 64 new episodes of simulated bidders.`;
    byId("brief-note").textContent = note ? sentence(note.replace(/_/g, " ")) : "";
    byId("brief-prices").hidden = priced || !rules.length;
    byId("brief-costs").textContent = priced ? COSTS : "";
    if (error) this.#say(`${sentence(error)} ${NO_COSTS}`, true);
  }

  /**
   * @param {string} text
   * @param {boolean} [isProblem]
   */
  #say(text, isProblem = false) {
    byId("brief-said").textContent = text;
    byId("brief-said").classList.toggle("problem", isProblem);
  }
}

/**
 * Return a rule with whether it is kept, its sentence and what it costs.
 * @param {wire.ReadSentence} rule
 */
function ruleEntry({ kept, says, sentence: text, price }) {
  const mark = el("span", { class: "mark-kept", "aria-hidden": "true", text: kept ? "✓" : "✗" });
  const spoken = el("span", { class: "unseen", text: kept ? "Kept: " : "Not kept: " });
  const cost = price === null ? [] : [el("span", { class: "cost", text: `costs ${fixed(price, 3)}` })];
  const body = el("div", {}, spoken, ruleInWords(says), " ", el("q", { class: "quiet", text }));
  return el("li", { class: kept ? "kept" : "broken" }, mark, body, ...cost);
}

/** @param {string} name Of a reward term. */
function aimName(name) {
  return name === "composite" ? "R" : words(name).toLowerCase();
}

/**
 * Call an action in place of sending a form.
 * @param {string} id
 * @param {() => unknown} action
 */
function submits(id, action) {
  byId(id).addEventListener("submit", (event) => {
    event.preventDefault();
    action();
  });
}
