/** The badge of the rules: what a bidder loses in one sale by bidding its value. */

import { api } from "./api.js";
import { byId } from "./dom.js";
import { fixed } from "./format.js";
import { guarded } from "./notices.js";

/** @import { Controls } from "./controls.js" */
/** @import { Session } from "./session.js" */

const NOTHING = 0.0005; // reads as 0.000
const LEFT_OUT = "Left out: fines, secret reserves and entry.";
const BEST = `In one sale under these rules, no bid beats a bidder's value. ${LEFT_OUT}`;
const WORSE =
  `In one sale under these rules, a bidder who bids its value loses this much against the best bids, all bids known (ex-post regret), on average. ${LEFT_OUT}`;

/** @type {wire.Truth} */
const NO_TRUTH = { reserves: [], regrets: {} };

/** Follows the episode's bidders and the rules that the controls show. */
export class TruthBadge {
  #truth = NO_TRUTH;
  #asked = 0;

  /**
   * @param {Session} session
   * @param {Controls} controls
   */
  constructor(session, controls) {
    this.controls = controls;
    session.addEventListener("begin", guarded(() => this.#ask(session.id)));
    controls.addEventListener("change", () => this.#show());
  }

  /**
   * Ask for the losses of an episode; many bidders take the server seconds.
   * @param {string} id
   */
  async #ask(id) {
    const asked = (this.#asked += 1);
    this.#truth = NO_TRUTH;
    this.#show();
    const truth = await api.truth(id);
    if (asked !== this.#asked) return; // another episode has begun meanwhile
    this.#truth = truth;
    this.#show();
  }

  #show() {
    const { auction_type: format, reserve_price: reserve } = this.controls.mechanism;
    const regrets = this.#truth.regrets[String(format)];
    byId("truth").hidden = !regrets;
    if (!regrets) return;
    const loss = between(this.#truth.reserves, regrets, Number(reserve));
    const pays = loss < NOTHING;
    byId("truth-loss").textContent = pays ? "Truth pays" : `Truth loses ${fixed(loss, 3)}`;
    byId("truth-loss").classList.toggle("ai", pays);
    byId("truth-meaning").textContent = pays ? BEST : WORSE;
  }
}

/**
 * Return a value on the line through points.
 * @param {number[]} places Rising.
 * @param {number[]} values
 * @param {number} at
 */
function between(places, values, at) {
  const next = places.findIndex((place) => place >= at);
  if (next <= 0) return values[next === 0 ? 0 : places.length - 1];
  const share = (at - places[next - 1]) / (places[next] - places[next - 1]);
  return values[next - 1] + share * (values[next] - values[next - 1]);
}
