/** What each name of a round bid, bought and paid. */

/** @import { Round } from "./session.js" */

const SAME = 0.0005; // prices that read the same are the same

/**
 * Return what a unit cost each winner, from the lowest price to the highest.
 * @param {Round} round
 */
export function unitPrices({ paid, delivered }) {
  const bought = paid.flatMap((sum, seat) => (delivered[seat] ? [sum / delivered[seat]] : []));
  return bought.sort((one, other) => one - other);
}

/**
 * Return whether the price of the round is not what each winner paid.
 * @param {Round} round
 */
export function pricesDiffer(round) {
  return unitPrices(round).some((price) => Math.abs(price - round.price) > SAME);
}

/**
 * Return what one name bid and bought in a round.
 * @param {Round} round
 * @param {number} seat False names come after the seats.
 * @param {number} seats
 */
export function offerOf(round, seat, seats) {
  const left = round.unkept[seat] ?? false;
  if (seat >= seats) {
    const bid = round.false_bids[seat - seats] ?? 0;
    return { bid, units: 0, paid: 0, present: bid > 0, unkept: left };
  }
  const [bid, units, present] = [round.bids[seat], round.delivered[seat], round.present[seat]];
  const paid = units ? round.paid[seat] / units : 0;
  return { bid, units, paid, present, unkept: left };
}
