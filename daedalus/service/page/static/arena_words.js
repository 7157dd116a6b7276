/** The arena in words: captions, what screen readers say, and what each type may do. */

import { el } from "./dom.js";
import { fixed, words } from "./format.js";
import { offerOf, pricesDiffer, unitPrices } from "./offer.js";
/** @import { Round } from "./session.js" */

/** @type {Record<string, string>} What a bidder of each strategy does. */
const STRATEGIES = {
  opt_out: "may stay out",
  shade: "bids low",
  withdraw: "may walk away",
  collude: "colludes",
  shill: "bids under false names",
  language_model: "a language model says what it bids",
};

/**
 * Return what one type of bidders may do, as an item of a list.
 * @param {string} type
 * @param {number|undefined} kind The number of its colour.
 * @param {wire.Bidder[]} bidders All of them.
 */
export function typeItem(type, kind, bidders) {
  const same = bidders.filter((each) => each.type === type);
  const menu = same[0].menu.map((each) => STRATEGIES[each] ?? words(each)).join(", ");
  const name = el("b", { text: `${words(type)} × ${same.length}:` });
  const chip = el("span", { class: `chip type-${kind}` });
  return el("li", {}, chip, name, ` ${menu || "bids its true value"}`);
}

/** @param {Round} round */
export function roundInWords(round) {
  const { present, delivered, false_bids: extras, unkept: left } = round;
  const units = delivered.reduce((sum, each) => sum + each, 0);
  const [came, walked] = [present, left].map((each) => each.filter(Boolean).length);
  const counted = Math.round(round.scores.participation * present.length); // P leaves out show bids
  const parts = [
    `${came} of ${present.length} bidders came${counted < came ? `, ${counted} with a bid that counts` : ""}`,
    extras.length ? `${extras.length} false ${extras.length > 1 ? "names" : "name"}` : "",
    units ? `${units} sold ${pricesInWords(round, units)}` : "nothing was sold",
    walked ? `${walked} won but did not buy` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/**
 * @param {Round} round
 * @param {number} units Sold.
 */
function pricesInWords(round, units) {
  const prices = unitPrices(round).map((each) => fixed(each));
  const [low, high] = [prices[0], prices[prices.length - 1]];
  const average = fixed(round.revenue / units);
  if (!pricesDiffer(round) || units === 1) return `at ${average}`;
  return low === high ? `at ${average} on average` : `at ${low} to ${high}, ${average} on average`;
}

/**
 * @param {Round} round
 * @param {wire.Bidder[]} [bidders] Their types, if they are revealed.
 * @param {number[]} [values] What a unit was worth to each.
 */
export function bidsInWords(round, bidders = [], values = []) {
  /** @type {(bid: number, seat: number) => string} */
  const one = (bid, seat) => {
    const type = bidders[seat] ? ` (${words(bidders[seat].type).toLowerCase()}, value ${fixed(values[seat])})` : "";
    const did = round.present[seat] ? `bid ${fixed(bid)}${wonInWords(round, seat)}` : "stayed out";
    return `bidder ${seat + 1}${type} ${did}`;
  };
  return round.bids.map(one).join(", ");
}

/**
 * @param {Round} round
 * @param {number} seat
 */
function wonInWords(round, seat) {
  const { units, paid } = offerOf(round, seat, round.bids.length);
  return units ? ` and bought ${units} at ${fixed(paid)}` : "";
}
