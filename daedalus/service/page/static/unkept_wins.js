/** Finds the winners that did not buy. The API tells bids and deliveries; this follows from them. */

/**
 * Return whether each name of a round won a unit and then did not buy it.
 *
 * Names are the bidders by seat, then the false names. A bidder may walk away after it won; a false
 * name cannot buy. The highest bids win. So a name won if it bid more than a name that bought. Where
 * all pay the highest losing bid, a name also won if it bid more than the price. The answer is true
 * only where the win is certain.
 * @param {wire.ArenaRound} round
 * @param {wire.Mechanism} mechanism The rules of this round.
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
