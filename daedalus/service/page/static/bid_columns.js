/** The columns of the visitor's log: reads the header of a file, and asks which column is which. */

import { byId, el, within } from "./dom.js";

/** Commas stand in names, too, so another mark that finds as many goes before them. */
const SEPARATORS = ["|", "\t", ";", ","];
const REQUIRED = ["auction", "bid"];
const CHOOSE = "choose …";
const NONE = "none";

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

/** The lists in which the visitor says which column is which. */
export class BidColumns {
  constructor() {
    this.host = byId("bids-columns", HTMLFieldSetElement);
    this.separator = ",";
  }

  /**
   * Fill the lists with the columns of a table, and choose those whose names are the usual ones.
   * @param {string} csv
   */
  show(csv) {
    const { separator, names } = headerOf(csv);
    this.separator = separator;
    for (const list of this.#lists()) {
      const nothing = REQUIRED.includes(list.name) ? CHOOSE : NONE;
      list.replaceChildren(...["", ...names].map((value) => el("option", { value, text: value || nothing })));
      list.value = names.find((name) => name === list.name) ?? names.find((name) => name.toLowerCase() === list.name) ?? "";
    }
    this.host.hidden = false;
  }

  hide() {
    this.host.hidden = true;
  }

  /** The first column that has to be chosen and is not, in words; null if all are. */
  get missing() {
    const open = this.#lists().find((list) => REQUIRED.includes(list.name) && !list.value);
    return open ? (open.name === "auction" ? "names the sale" : "has the bids") : null;
  }

  /** What the service is told of the columns. */
  get chosen() {
    const columns = Object.fromEntries(this.#lists().map((list) => [list.name, list.value]));
    const { value } = within(this.host, '[name="decimal"]', HTMLSelectElement);
    const marks = /** @type {Pick<wire.BidLog, "separator"|"decimal">} */ ({ separator: this.separator, decimal: value || null });
    return { ...columns, ...marks };
  }

  #lists() {
    const lists = [...this.host.querySelectorAll("select")];
    return lists.filter((list) => list.name !== "decimal");
  }
}
