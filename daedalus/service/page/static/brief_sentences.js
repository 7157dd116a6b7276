/** The sentences of a brief: what each was taken for, which a person may change. */

import { el, set } from "./dom.js";
import { sentence, words } from "./format.js";

/** @type {Record<wire.ReadSentence["use"], string>} */
const USES = { used: "used", unused: "not used", excluded: "not kept", idle: "asks for nothing" };
const CHANGED = "Changed by you. Find the rules again.";

/** A list with an entry for each sentence. Event: `change`, after a person has changed one. */
export class BriefSentences extends EventTarget {
  /**
   * @param {HTMLElement} host
   * @param {wire.BriefMeaning[]} meanings
   */
  constructor(host, meanings) {
    super();
    this.host = host;
    this.meanings = meanings;
    /** @type {wire.GivenClause[]} */
    this.clauses = [];
  }

  /**
   * Show what became of the sentences of a brief.
   * @param {wire.ReadSentence[]} sentences
   */
  show(sentences) {
    this.clauses = sentences.map(({ meaning, amount, sentence: text, sure, doubt }) => ({
      meaning, amount, sentence: text, sure, doubt,
    }));
    this.host.replaceChildren(...sentences.map((each, place) => this.#entry(each, this.clauses[place])));
  }

  /**
   * @param {wire.ReadSentence} read
   * @param {wire.GivenClause} clause Changes with the controls.
   */
  #entry(read, clause) {
    const quote = `“${read.sentence}”`;
    const options = this.meanings.map(({ name, meaning }) => el("option", { value: name, text: meaning }));
    const meaning = el("select", { "aria-label": `Meaning of ${quote}` }, ...options);
    meaning.value = clause.meaning;
    const amount = el("input", { type: "number", step: "any", inputmode: "decimal", "aria-label": `Amount in ${quote}` });
    const remove = el("button", { type: "button", text: "×", class: "plain", "aria-label": `Remove ${quote}`, title: "Remove" });
    const accept = el("button", { type: "button", text: "Use it", "aria-label": `Use ${quote} as shown` });
    accept.hidden = !this.#acceptable(clause);
    const badge = el("span", { class: `badge ${read.use}`, text: USES[read.use] });
    const said = el("span", { text: saidOf(read) });
    const head = el("div", { class: "row" }, el("q", { text: read.sentence }), remove);
    const controls = el("div", { class: "row" }, meaning, amount, accept);
    const entry = el("li", { class: "sentence" }, head, controls, el("p", { class: "meaning" }, badge, " ", said));
    const changed = () => {
      Object.assign(clause, { meaning: meaning.value, sure: 1, doubt: "" });
      clause.amount = this.#bound(amount, clause) && amount.value !== "" ? Number(amount.value) : null;
      badge.hidden = accept.hidden = true;
      said.textContent = CHANGED;
      this.dispatchEvent(new Event("change"));
    };
    amount.value = clause.amount === null ? "" : String(clause.amount);
    this.#bound(amount, clause);
    for (const each of [meaning, amount]) each.addEventListener("change", changed);
    accept.addEventListener("click", changed);
    remove.addEventListener("click", () => this.#remove(entry, clause));
    return entry;
  }

  /**
   * Let a field take the amounts of a clause's meaning; hide it if it takes none. What is not used may name any.
   * @param {HTMLInputElement} amount
   * @param {wire.GivenClause} clause
   */
  #bound(amount, clause) {
    const { low = null, high = null } = this.meanings.find(({ name }) => name === clause.meaning) ?? {};
    const counts = low !== null && !clause.doubt;
    set(amount, { required: counts, min: counts ? low : null, max: counts ? high : null });
    if (counts) amount.title = `${low} to ${high}`;
    amount.hidden = low === null;
    return low !== null;
  }

  /**
   * Return whether a clause in doubt would be a rule if a person said so.
   * @param {wire.GivenClause} clause
   */
  #acceptable({ meaning, amount, doubt }) {
    const { low = null, high = null } = this.meanings.find(({ name }) => name === meaning) ?? {};
    const fits = low === null || high === null || (amount !== null && low <= amount && amount <= high);
    return Boolean(doubt) && fits && meaning !== "other/all";
  }

  /**
   * @param {HTMLElement} entry
   * @param {wire.GivenClause} clause
   */
  #remove(entry, clause) {
    const next = entry.nextElementSibling ?? entry.previousElementSibling;
    this.clauses = this.clauses.filter((each) => each !== clause);
    entry.remove();
    this.dispatchEvent(new Event("change"));
    next?.querySelector("select")?.focus();
  }
}

/** @param {wire.ReadSentence} read */
function saidOf({ use, says, sure }) {
  if (use === "idle") return sureness(sure);
  return use === "used" ? `${ruleInWords(says)} · ${sureness(sure)}` : sentence(says.replace(/_/g, " "));
}

/**
 * Return what a sentence rules in words, without the names that commands use.
 * @param {string} says
 */
export function ruleInWords(says) {
  return words(says.replace("population=briefs_", ""));
}

/** @param {number} sure */
function sureness(sure) {
  return sure === 1 ? "as you set it" : `${Math.round(100 * sure)} % sure`;
}
