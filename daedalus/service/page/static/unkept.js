/** Who won and did not keep it: the API tells bids and deliveries, this follows from them. */

/**
 * Return for every name of a round, bidders first and then false names, whether it won but bought
 * nothing: it walked away, or was nobody who could buy.
 *
 * Units go to the highest bids, so whoever bid more than somebody who bought had won, too; and so
 * had, where all pay the highest losing bid, whoever bid more than that. Who won beyond doubt is
 * named, and nobody else.
 * @param {Object} round As in `/api/arena`.
 * @param {Object} mechanism The rules it was played under.
 * @returns {boolean[]}
 */
export function unkept(round, mechanism) {
  const bids = [...round.bids, ...round.false_bids];
  const bought = bids.filter((_, index) => round.delivered[index] > 0);
  if (!bought.length) return bids.map(() => false);
  const losing = mechanism.auction_type === "second_price" ? round.price : Infinity;
  const enough = Math.min(losing, ...bought);
  return bids.map((bid, index) => bid > enough && !round.delivered[index]);
}
