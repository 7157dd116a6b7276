/** The rules of the auction as controls, one for each field of a mechanism. */

import { byId, el, set } from "./dom.js";
import { fixed, sentence, shown, words } from "./format.js";

const GROUPS = [
  ["The sale", (name) => !/^reveal_|penalty$|policy$/.test(name)],
  ["What bidders are told", (name) => name.startsWith("reveal_")],
  ["What is punished", (name) => /penalty$|policy$/.test(name)],
];

/**
 * @typedef {Object} Field As in `/api/catalogue`.
 * @property {string} name
 * @property {"choice"|"flag"|"number"} kind
 * @property {string[]|null} choices
 * @property {number|null} low
 * @property {number|null} high
 * @property {*} default
 * @property {string} meaning
 */

/** The controls together. Event: `change`, after the visitor or a designer changed a rule. */
export class Rules extends EventTarget {
  /** @param {Field[]} fields */
  constructor(fields) {
    super();
    this.fields = fields;
    this.controls = new Map(fields.map((field) => [field.name, makeControl(field, this)]));
    this.inForce = this.defaults;
    byId("rules").replaceChildren(...GROUPS.map(([title, member]) => this.#group(title, member)));
    byId("defaults").addEventListener("click", () => this.set(this.defaults));
    this.addEventListener("change", () => this.#mark());
  }

  /** The rules that hold if nobody sets others. */
  get defaults() {
    return Object.fromEntries(this.fields.map((field) => [field.name, field.default]));
  }

  /** The mechanism as it is set. */
  get mechanism() {
    return Object.fromEntries([...this.controls].map(([name, { read }]) => [name, read()]));
  }

  /** Set every rule. */
  set(mechanism) {
    for (const [name, { write }] of this.controls) write(mechanism[name]);
    this.dispatchEvent(new Event("change"));
  }

  /** Remember which rules the last step was played under, to mark those that differ. */
  played(mechanism) {
    this.inForce = mechanism ?? this.defaults;
    this.#mark();
  }

  /** Let the visitor set the rules, or not. */
  enable(enabled) {
    byId("rules").disabled = !enabled;
    byId("defaults").disabled = !enabled;
  }

  /** Return the names of the rules that two mechanisms set otherwise. */
  changed(before, after) {
    return this.fields.map(({ name }) => name).filter((name) => before[name] !== after[name]);
  }

  #group(title, member) {
    const rows = [...this.controls.entries()].filter(([name]) => member(name));
    const heading = el("h3", { text: title });
    return el("div", { class: "group" }, heading, ...rows.map(([, { row }]) => row));
  }

  #mark() {
    const changed = new Set(this.changed(this.inForce, this.mechanism));
    for (const [name, { row }] of this.controls) row.classList.toggle("pending", changed.has(name));
    const count = changed.size;
    const text = count === 1 ? "1 rule changes" : `${count} rules change`;
    byId("pending").textContent = count ? `${text} with the next step` : "in force";
  }
}

/**
 * Return what changed between two mechanisms, in words.
 * @param {Object} before
 * @param {Object} after
 * @param {string[]} names
 */
export function changesInWords(before, after, names) {
  return names.map((name) => `${words(name)}: ${shown(before[name])} → ${shown(after[name])}`);
}

function makeControl(field, rules) {
  return { choice: choiceControl, flag: flagControl, number: numberControl }[field.kind](
    field,
    () => rules.dispatchEvent(new Event("change")),
  );
}

function described(field) {
  const id = `rule-${field.name}`;
  const meaning = el("p", { class: "meaning", id: `${id}-meaning`, text: sentence(field.meaning.replace(/_ ?/g, " ")) });
  const label = el("label", { for: id, text: words(field.name) });
  return { label, meaning, shared: { id, name: field.name, "aria-describedby": `${id}-meaning` } };
}

function choiceControl(field, changed) {
  const { label, meaning, shared } = described(field);
  const options = field.choices.map((value) => el("option", { value, text: words(value) }));
  const select = el("select", { ...shared, on: { change: changed } }, ...options);
  const write = (value) => {
    select.value = value;
  };
  write(field.default);
  const row = el("div", { class: "rule choice" }, label, select, meaning);
  return { row, read: () => select.value, write };
}

function flagControl(field, changed) {
  const { label, meaning, shared } = described(field);
  const box = el("input", { ...shared, type: "checkbox", role: "switch", on: { change: changed } });
  const write = (value) => {
    box.checked = value;
  };
  write(field.default);
  const row = el("div", { class: "rule flag" }, label, box, meaning);
  return { row, read: () => box.checked, write };
}

function numberControl(field, changed) {
  const { label, meaning, shared } = described(field);
  const bounds = { min: field.low, max: field.high, step: 0.01 };
  const exact = el("input", { ...shared, ...bounds, type: "number", inputmode: "decimal" });
  const slide = el("input", { ...bounds, type: "range", "aria-label": `${words(field.name)}, slider` });
  const write = (value) => {
    exact.value = fixed(value);
    slide.value = value;
    const share = (100 * (value - field.low)) / (field.high - field.low);
    slide.style.setProperty("--filled", `${share}%`);
  };
  const take = (text) => {
    const number = text === "" || !Number.isFinite(Number(text)) ? field.default : Number(text);
    write(Math.min(field.high, Math.max(field.low, number)));
    changed();
  };
  exact.addEventListener("change", () => take(exact.value));
  slide.addEventListener("input", () => take(slide.value));
  set(slide, { "aria-describedby": `rule-${field.name}-meaning` });
  write(field.default);
  const row = el("div", { class: "rule scale" }, label, exact, slide, meaning);
  return { row, read: () => Number(exact.value), write };
}
