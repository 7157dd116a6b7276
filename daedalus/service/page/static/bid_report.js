/** The visitor's own log of bids: sends it, and shows the report in a frame that may do nothing. */

import { api, explain } from "./api.js";
import { byId, set } from "./dom.js";

const SENDING = "The report is being made …";
const READY = "This is the report.";
const NONE = "This server makes no reports.";
const NO_FILE = "Choose a CSV file first.";
const NOT_TEXT = "The file is not text in UTF-8. Save it as CSV in UTF-8, then send it again.";

const ENVELOPE = 100; // bytes of a request beside the log

/** @param {number} most */
const tooLong = (most) => `The file is too long, or empty: send at most ${most} bytes.`;

/** The section with the form. */
export class BidReport {
  /** @param {number} most Longest request, in bytes; 0 if there are no reports. */
  constructor(most) {
    this.most = most;
    this.button = byId("bids-send", HTMLButtonElement);
    this.button.disabled = !most;
    this.#say(most ? "" : NONE);
    byId("bids-form").addEventListener("submit", (event) => event.preventDefault());
    byId("bids-form").addEventListener("submit", () => this.#send());
  }

  async #send() {
    this.#show(null);
    const [file] = byId("bids-file", HTMLInputElement).files ?? [];
    if (!file) return this.#say(NO_FILE);
    this.button.disabled = true;
    this.#say(SENDING);
    try {
      const csv = file.size > this.most ? "" : await textOf(file);
      if (csv === null) return this.#say(NOT_TEXT);
      if (!csv || new Blob([JSON.stringify(csv)]).size > this.most - ENVELOPE) return this.#say(tooLong(this.most));
      const { report } = await api.bids(csv, byId("bids-format", HTMLSelectElement).value);
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
 * Return the text of a file, or null if it is not UTF-8.
 * @param {File} file
 */
async function textOf(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return null;
  }
}
