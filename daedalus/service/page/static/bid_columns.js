/** The columns of the visitor's log: reads the header of a file, and asks which column is which. */

import { byId, el, within } from "./dom.js";

/** Commas stand in names, too, so another mark that finds as many goes before them. */
const SEPARATORS = ["|", "\t", ";", ","];
const REQUIRED = ["auction", "bid"];
const CHOOSE = "choose …";
const NONE = "none";
const SHOWN = 8; // names of other columns
const ALIKE = "Your file has no other columns, so all sales count as of the same goods.";

/** @typedef {{separator: string, names: string[]}} Header */

/**
 * Return the names in the first line of a table, and what separates them: the mark that finds most.
 * @param {string} csv
 * @returns {Header}
 */
export function headerOf(csv) {
  const [first = ""] = csv.replace(/^\uFEFF/, "").replace(/^sep=.\r?\n/i, "").trimStart().split(/\r\n|\r|\n/, 1);
  const tried = SEPARATORS.map((separator) => ({ separator, names: cells(first, separator) }));
  return tried.reduce((best, each) => (each.names.length > best.names.length ? each : best));
}

/**
 * Return the cells of a line; a separator in quotation marks is none.
 * @param {string} line
 * @param {string} separator
 */
function cells(line, separator) {
  const parts = [""];
  let quoted = false;
  for (const mark of line) {
    if (mark === '"') quoted = !quoted;
    else if (mark === separator && !quoted) parts.push("");
    else parts[parts.length - 1] += mark;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

/**
 * Return the one column with a usual name, of which the first goes before the others; or else "".
 * @param {string[]} names
 * @param {string[]} usual
 */
function usualColumn(names, usual) {
  for (const some of [usual.slice(0, 1), usual]) {
    const found = names.filter((name) => some.includes(name.toLowerCase()));
    if (found.length === 1) return found[0];
  }
  return "";
}

/** The lists in which the visitor says which column is which. */
export class BidColumns {
  /** @param {Record<string, string[]>} usual Usual names of columns, by what they hold. */
  constructor(usual) {
    this.usual = usual;
    this.host = byId("bids-columns");
    this.separator = ",";
    /** @type {string[]} */
    this.names = [];
    this.host.addEventListener("change", () => this.#tellOthers());
  }

  /**
   * Fill the lists with the columns of a table, and choose those whose names are the usual ones.
   * @param {string} csv
   */
  show(csv) {
    Object.assign(this, headerOf(csv));
    for (const list of this.#lists()) {
      const nothing = REQUIRED.includes(list.name) ? CHOOSE : NONE;
      list.replaceChildren(...["", ...this.names].map((value) => el("option", { value, text: value || nothing })));
      list.value = usualColumn(this.names, this.usual[list.name] ?? []);
    }
    this.#tellOthers();
    this.host.hidden = false;
  }

  hide() {
    this.host.hidden = true;
  }

  /** What is wrong with the choice, in words; null if nothing is. */
  get problem() {
    const open = this.#lists().find((list) => REQUIRED.includes(list.name) && !list.value);
    if (open) return `Choose the column that ${open.name === "auction" ? "names the sale" : "has the bids"}.`;
    const taken = this.#taken();
    const twice = taken.find((name, place) => taken.indexOf(name) !== place);
    return twice === undefined ? null : `Column ${twice} is chosen twice. Choose another for one of them.`;
  }

  /** What the service is told of the columns. */
  get chosen() {
    const columns = Object.fromEntries(this.#lists().map((list) => [list.name, list.value]));
    const { value } = within(this.host, '[name="decimal"]', HTMLSelectElement);
    const marks = /** @type {Pick<wire.BidLog, "separator"|"decimal">} */ ({ separator: this.separator, decimal: value || null });
    return { ...columns, ...marks };
  }

  /** Say what becomes of the columns that no list has. */
  #tellOthers() {
    const taken = this.#taken();
    const others = this.names.filter((name) => !taken.includes(name));
    const named = others.slice(0, SHOWN).join(", ") + (others.length > SHOWN ? " …" : "");
    const told = `Other columns (${named}) count as what was sold. The report says which it uses, and why it leaves others out.`;
    byId("bids-others").textContent = others.length ? told : ALIKE;
  }

  #taken() {
    return this.#lists().map((list) => list.value).filter(Boolean);
  }

  #lists() {
    const lists = [...this.host.querySelectorAll("select")];
    return lists.filter((list) => list.name !== "decimal");
  }
}
