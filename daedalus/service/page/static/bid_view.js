/** A report on bids that is ready: what can be done with it, and its view, a frame that may do nothing. */

import { byId, set } from "./dom.js";

/** The line of a report that is ready, and the view that fills the window, so that only the report scrolls. */
export class BidView {
  constructor() {
    this.host = byId("bids-ready");
    this.view = byId("bids-view", HTMLDialogElement);
    byId("bids-read").addEventListener("click", () => this.view.showModal());
    byId("bids-close").addEventListener("click", () => this.view.close());
  }

  /**
   * Offer a report. It opens by itself if the visitor still looks at the form.
   * @param {wire.BidReport} made
   * @param {string} name Of the log.
   */
  offer({ report, reserves }, name) {
    byId("bids-name").textContent = name;
    set(byId("bids-report"), { src: report });
    for (const link of document.querySelectorAll(".save-report")) set(link, { href: report, download: `report ${name}.html` });
    for (const link of document.querySelectorAll(".save-reserves")) set(link, { href: reserves });
    this.host.hidden = false;
    if (isSeen(byId("bids-form"))) this.view.showModal();
  }

  withdraw() {
    this.host.hidden = true;
    set(byId("bids-report"), { src: null });
  }
}

/** @param {Element} element */
function isSeen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight && !document.hidden;
}
