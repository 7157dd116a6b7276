/** The visitor's own log of bids: sends it, and shows the report in a frame that may do nothing. */

import { api, explain } from "./api.js";
import { BidColumns } from "./bid_columns.js";
import { byId, set } from "./dom.js";

const SENDING = "The report is being made …";
const READY = "This is the report.";
const NONE = "This server makes no reports.";
const NO_FILE = "Choose a CSV file first.";
const NOT_TEXT = "The file is not text. Save the table as CSV in UTF-8, then send it again.";

/** @type {Record<string, string>} Encodings by the first bytes of a file. */
const UTF_16 = { "255 254": "utf-16le", "254 255": "utf-16be" };

const ENVELOPE = 2000; // bytes of a request beside the log

/** @param {number} most */
const tooLong = (most) => `The file is too long, or empty: send at most ${most} bytes.`;

/** The section with the form. */
export class BidReport {
  /** @param {number} most Longest request, in bytes; 0 if there are no reports. */
  constructor(most) {
    this.most = most;
    this.button = byId("bids-send", HTMLButtonElement);
    this.button.disabled = !most;
    this.columns = new BidColumns();
    this.#say(most ? "" : NONE);
    byId("bids-file").addEventListener("change", () => this.#read());
    byId("bids-form").addEventListener("submit", (event) => event.preventDefault());
    byId("bids-form").addEventListener("submit", () => this.#send());
  }

  /** Read the header of the file that was chosen, so that its columns can be named. */
  async #read() {
    this.#say("");
    const [file] = byId("bids-file", HTMLInputElement).files ?? [];
    const csv = file && file.size <= this.most ? await textOf(file) : null;
    if (csv) this.columns.show(csv);
    else this.columns.hide();
  }

  async #send() {
    this.#show(null);
    const [file] = byId("bids-file", HTMLInputElement).files ?? [];
    if (!file) return this.#say(NO_FILE);
    const { missing } = this.columns;
    if (missing && !this.columns.host.hidden) return this.#say(`Choose the column that ${missing}.`);
    this.button.disabled = true;
    this.#say(SENDING);
    try {
      const csv = file.size > this.most ? "" : await textOf(file);
      if (csv === null) return this.#say(NOT_TEXT);
      if (!csv || new Blob([JSON.stringify(csv)]).size > this.most - ENVELOPE) return this.#say(tooLong(this.most));
      const format = /** @type {wire.BidLog["format"]} */ (byId("bids-format", HTMLSelectElement).value);
      const { report } = await api.bids({ csv, format, ...this.columns.chosen });
      this.#show(report);
      this.#say(READY);
    } catch (error) {
      this.#say(explain(error));
    } finally {
      this.button.disabled = false;
    }
  }

  /** @param {string|null} address Of the report; null shows none. */
  #show(address) {
    set(byId("bids-report"), { src: address, hidden: address === null });
    set(byId("bids-save"), { href: address, hidden: address === null });
  }

  /** @param {string} text */
  #say(text) {
    byId("bids-said").textContent = text;
  }
}

/**
 * Return the text of a file in UTF-8, in UTF-16 with its mark, or else in Windows-1252; null if it is no text.
 * @param {File} file
 */
async function textOf(file) {
  const data = await file.arrayBuffer();
  const start = [...new Uint8Array(data.slice(0, 2))].join(" ");
  const encodings = [UTF_16[start] ?? "utf-8", "windows-1252"];
  const texts = encodings.map((encoding) => decoded(data, encoding));
  const text = texts.find((each) => each !== null) ?? null;
  return text?.includes("\0") ? null : text;
}

/**
 * Return data as text, or null if the encoding does not fit.
 * @param {ArrayBuffer} data
 * @param {string} encoding
 */
function decoded(data, encoding) {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(data);
  } catch {
    return null;
  }
}
