/** The wait for a report on bids: how long it has taken, and a way to stop it. */

import { byId } from "./dom.js";

/** The line with the bar, the seconds and the button. */
export class BidWait {
  constructor() {
    this.host = byId("bids-wait");
    this.stopping = new AbortController();
    this.clock = 0;
    byId("bids-stop").addEventListener("click", () => this.stopping.abort());
  }

  /**
   * Count seconds from now.
   * @returns {AbortSignal} Tells that the visitor wants no report any more.
   */
  begin() {
    this.stopping = new AbortController();
    const began = Date.now();
    const tell = () => (byId("bids-seconds").textContent = `${Math.round((Date.now() - began) / 1000)} s`);
    tell();
    this.clock = window.setInterval(tell, 1000);
    this.host.hidden = false;
    return this.stopping.signal;
  }

  end() {
    window.clearInterval(this.clock);
    this.host.hidden = true;
  }
}
