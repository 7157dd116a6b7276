/** The rules of the auction as controls: one for each field of a mechanism. */

import { byId, el, set } from "./dom.js";
import { fixed, sentence, shown, words } from "./format.js";

/** @import { Store } from "./session.js" */

const KEY = "daedalus.rules";

/** @type {[string, (name: string) => boolean][]} */
const GROUPS = [
  ["The sale", (name) => !/^reveal_|penalty$|policy$/.test(name)],
  ["What bidders are told", (name) => name.startsWith("reveal_")],
  ["What is punished", (name) => /penalty$|policy$/.test(name)],
];

/**
 * @typedef {Object} Control
 * @property {HTMLElement} row
 * @property {() => wire.Value} read
 * @property {(value: wire.Value) => void} write
 */

/** All controls together. Event: `change`, after the visitor or a designer changed a rule. */
export class Controls extends EventTarget {
  /** @type {wire.Mechanism|null} The visitor's rules, while the controls show those of another. */
  #kept = null;

  /**
   * @param {wire.MechanismField[]} fields
   * @param {Store} storage Holds the visitor's rules.
   */
  constructor(fields, storage) {
    super();
    const changed = () => this.dispatchEvent(new Event("change"));
    this.storage = storage;
    this.fields = fields;
    this.controls = new Map(fields.map((field) => [field.name, makeControl(field, changed)]));
    this.inForce = this.defaults;
    byId("rules").replaceChildren(...GROUPS.map(([title, member]) => this.#group(title, member)));
    byId("defaults").addEventListener("click", () => this.set(this.defaults));
    this.set(this.#allowed(JSON.parse(storage.getItem(KEY) ?? "{}")));
    this.addEventListener("change", () => this.#changed());
  }

  /**
   * The mechanism that holds if the visitor changes nothing.
   * @returns {wire.Mechanism}
   */
  get defaults() {
    return Object.fromEntries(this.fields.map((field) => [field.name, field.default]));
  }

  /**
   * The mechanism that the controls show.
   * @returns {wire.Mechanism}
   */
  get mechanism() {
    return Object.fromEntries([...this.controls].map(([name, { read }]) => [name, read()]));
  }

  /**
   * The rules that the visitor set.
   * @returns {wire.Mechanism}
   */
  get own() {
    return this.#kept ?? this.mechanism;
  }

  /**
   * Show the rules of a designer or of the tour, and keep those of the visitor.
   * @param {wire.Mechanism} mechanism
   */
  lend(mechanism) {
    this.#kept = this.own;
    this.set(mechanism);
  }

  /** Show the visitor's own rules again. */
  giveBack() {
    const own = this.own;
    this.#kept = null;
    this.set(own);
  }

  /**
   * Set every control.
   * @param {wire.Mechanism} mechanism
   */
  set(mechanism) {
    for (const [name, { write }] of this.controls) write(mechanism[name]);
    this.dispatchEvent(new Event("change"));
  }

  /**
   * Remember the mechanism in force, to mark the rules that differ from it.
   * @param {wire.Mechanism|null} mechanism Null takes the defaults.
   */
  played(mechanism) {
    this.inForce = mechanism ?? this.defaults;
    this.#mark();
  }

  /**
   * Let the visitor set the rules, or not.
   * @param {boolean} enabled
   */
  enable(enabled) {
    byId("rules", HTMLFieldSetElement).disabled = !enabled;
    byId("defaults", HTMLButtonElement).disabled = !enabled;
  }

  /**
   * Return the names of the fields in which two mechanisms differ.
   * @param {wire.Mechanism} before
   * @param {wire.Mechanism} after
   */
  changed(before, after) {
    return this.fields.map(({ name }) => name).filter((name) => before[name] !== after[name]);
  }

  /**
   * Return stored rules; in place of those that may not be set here, and of missing ones, the default.
   * @param {wire.Mechanism} stored
   * @returns {wire.Mechanism}
   */
  #allowed(stored) {
    const kept = this.fields.filter((field) => allows(field, stored[field.name]));
    return { ...this.defaults, ...Object.fromEntries(kept.map(({ name }) => [name, stored[name]])) };
  }

  /**
   * @param {string} title
   * @param {(name: string) => boolean} member
   */
  #group(title, member) {
    const rows = [...this.controls.entries()].filter(([name]) => member(name));
    const heading = el("h3", { text: title });
    return el("div", { class: "group" }, heading, ...rows.map(([, { row }]) => row));
  }

  #changed() {
    this.storage.setItem(KEY, JSON.stringify(this.own));
    this.#mark();
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
 * @param {wire.Mechanism} before
 * @param {wire.Mechanism} after
 * @param {string[]} names Of the fields that differ.
 */
export function changesInWords(before, after, names) {
  return names.map((name) => `${words(name)}: ${shown(before[name])} → ${shown(after[name])}`);
}

/**
 * @param {wire.MechanismField} field
 * @param {() => void} changed Called when the visitor has moved the control.
 * @returns {Control}
 */
function makeControl(field, changed) {
  if (field.kind === "flag") return flagControl(field, changed);
  if (field.choices) return choiceControl(field, field.choices, changed);
  return numberControl(/** @type {wire.NumberField} */ (field), changed);
}

/**
 * Return whether the visitor may set a field to a value.
 * @param {wire.MechanismField} field
 * @param {wire.Value|undefined} value
 */
function allows(field, value) {
  if (value === undefined) return false;
  if (field.choices) return field.choices.some((each) => each === value);
  return field.kind !== "number" || (field.low <= Number(value) && Number(value) <= field.high);
}

/** @param {wire.MechanismField} field */
function described(field) {
  const id = `rule-${field.name}`;
  const text = sentence(field.meaning.replace(/_ ?/g, " "));
  const meaning = el("p", { class: "meaning", id: `${id}-meaning`, text });
  const label = el("label", { for: id, text: words(field.name) });
  return { label, meaning, shared: { id, name: field.name, "aria-describedby": `${id}-meaning` } };
}

/**
 * @param {wire.ChoiceField|wire.NumberField} field
 * @param {(string|number)[]} choices
 * @param {() => void} changed
 * @returns {Control}
 */
function choiceControl(field, choices, changed) {
  const { label, meaning, shared } = described(field);
  const options = choices.map((each) => el("option", { value: String(each), text: words(String(each)) }));
  const select = el("select", { ...shared, on: { change: changed } }, ...options);
  select.value = String(field.default);
  return {
    row: el("div", { class: "rule choice" }, label, select, meaning),
    read: () => (field.kind === "number" ? Number(select.value) : select.value),
    write: (value) => {
      select.value = String(value);
    },
  };
}

/**
 * @param {wire.FlagField} field
 * @param {() => void} changed
 * @returns {Control}
 */
function flagControl(field, changed) {
  const { label, meaning, shared } = described(field);
  const box = el("input", { ...shared, type: "checkbox", role: "switch", on: { change: changed } });
  box.checked = field.default;
  box.disabled = field.choices?.length === 1;
  return {
    row: el("div", { class: "rule flag" }, label, box, meaning),
    read: () => box.checked,
    write: (value) => {
      box.checked = value === true;
    },
  };
}

/**
 * @param {wire.NumberField} field
 * @param {() => void} changed
 * @returns {Control}
 */
function numberControl(field, changed) {
  const { label, meaning, shared } = described(field);
  const bounds = { min: field.low, max: field.high, step: 0.01 };
  const exact = el("input", { ...shared, ...bounds, type: "number", inputmode: "decimal" });
  const slide = el("input", { ...bounds, type: "range", "aria-label": `${words(field.name)}, slider` });
  let now = field.default; // what is shown has two decimals, and an end of the range may have more
  /** @param {number} value */
  const write = (value) => {
    now = value;
    exact.value = fixed(value);
    slide.value = String(value);
    const share = (100 * (value - field.low)) / (field.high - field.low || 1);
    slide.style.setProperty("--filled", `${share}%`);
  };
  /** @param {string} text */
  const take = (text) => {
    const number = text === "" || !Number.isFinite(Number(text)) ? field.default : Number(fixed(Number(text)));
    write(Math.min(field.high, Math.max(field.low, number)));
    changed();
  };
  exact.addEventListener("change", () => take(exact.value));
  slide.addEventListener("input", () => take(slide.value));
  set(slide, { "aria-describedby": `rule-${field.name}-meaning` });
  write(field.default);
  const row = el("div", { class: "rule scale" }, label, exact, slide, meaning);
  return { row, read: () => now, write: (value) => write(Number(value)) };
}
