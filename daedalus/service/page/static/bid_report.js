/** The visitor's own log of bids: reads it, sends it, and says what came of it. */

import { api, explain, isCancelled } from "./api.js";
import { BidColumns } from "./bid_columns.js";
import { BidView } from "./bid_view.js";
import { BidWait } from "./bid_wait.js";
import { byId } from "./dom.js";

const READY = "The report is ready.";
const NONE = "This server makes no reports.";
const NO_FILE = "Choose a CSV file first.";
const NOT_TEXT = "The file is not text. Save the table as CSV in UTF-8, then send it again.";
const STOPPED = "Stopped. The server has kept nothing of your log.";

/** @type {Record<string, string>} Encodings by the first bytes of a file. */
const UTF_16 = { "255 254": "utf-16le", "254 255": "utf-16be" };

const ENVELOPE = 3000; // bytes of a request beside the log
const LONGEST_NAME = 60;

/** @param {number} most */
const tooLong = (most) => `The file is too long, or empty: send at most ${most} bytes.`;

/** The section with the form. */
export class BidReport {
  /**
   * @param {number} most Longest request, in bytes; 0 if there are no reports.
   * @param {Record<string, string[]>} usual Usual names of columns, by what they hold.
   */
  constructor(most, usual) {
    this.most = most;
    this.button = byId("bids-send", HTMLButtonElement);
    this.button.disabled = !most;
    this.columns = new BidColumns(usual);
    this.wait = new BidWait();
    this.view = new BidView();
    this.#say(most ? "" : NONE);
    byId("bids-file").addEventListener("change", () => this.#read());
    byId("bids-form").addEventListener("submit", (event) => event.preventDefault());
    byId("bids-form").addEventListener("submit", () => this.#send());
  }

  /** Read the header of the file that was chosen, so that its columns can be named. */
  async #read() {
    this.#say("");
    this.view.withdraw();
    const file = this.#file();
    const csv = file && file.size <= this.most ? await textOf(file) : null;
    if (csv) this.columns.show(csv);
    else this.columns.hide();
  }

  async #send() {
    this.#say("");
    this.view.withdraw();
    const file = this.#file();
    const { problem, host } = this.columns;
    if (!file) return this.#fail(NO_FILE);
    if (problem && !host.hidden) return this.#fail(problem);
    this.button.disabled = true;
    const signal = this.wait.begin();
    try {
      await this.#report(file, signal);
    } catch (error) {
      if (isCancelled(error)) this.#say(STOPPED);
      else this.#fail(explain(error));
    } finally {
      this.wait.end();
      this.button.disabled = false;
    }
  }

  /**
   * Have the report made, and offer it.
   * @param {File} file
   * @param {AbortSignal} signal
   */
  async #report(file, signal) {
    const csv = file.size > this.most ? "" : await textOf(file);
    if (csv === null) return this.#fail(NOT_TEXT);
    if (!csv || new Blob([JSON.stringify(csv)]).size > this.most - ENVELOPE) return this.#fail(tooLong(this.most));
    const format = /** @type {wire.BidLog["format"]} */ (byId("bids-format", HTMLSelectElement).value);
    const name = file.name.replace(/\.[^.]*$/, "").slice(0, LONGEST_NAME);
    const made = await api.bids({ csv, name, format, ...this.columns.chosen }, signal);
    this.wait.end();
    this.#say(READY);
    this.view.offer(made, name);
  }

  #file() {
    return byId("bids-file", HTMLInputElement).files?.[0];
  }

  /** @param {string} text */
  #say(text) {
    byId("bids-said").textContent = text;
    byId("bids-said").classList.remove("problem");
  }

  /** @param {string} text */
  #fail(text) {
    this.#say(text);
    byId("bids-said").classList.add("problem");
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
