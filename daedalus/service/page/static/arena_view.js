/** The arena: the bidders, their bids and the sale, round by round. */

import { figureHeight, layout, tie } from "./arena_layout.js";
import { axis, colours, invitation, line, makeName } from "./arena_parts.js";
import { bidsInWords, roundInWords, typeItem } from "./arena_words.js";
import { el, set, svg, within } from "./dom.js";
import { fixed, words } from "./format.js";
import { between, Clock, part } from "./motion.js";
import { offerOf, pricesDiffer } from "./offer.js";
/** @import { Round } from "./session.js" */

const ROUND = 1150; // milliseconds at speed 1

/**
 * @typedef {Object} Revealed
 * @property {wire.Bidder[]} bidders By seat.
 * @property {number[][]} owners Seats of the owners of false names, by round.
 * @property {number[][]} values What a unit was worth to each bidder, by round.
 * @property {Map<string, number>} kinds The number of each type's colour.
 */

/** Draws rounds. Also draws the bidders' types, once they are revealed. */
export class ArenaView {
  #clock = new Clock();
  /** @type {ReturnType<typeof makeName>[]} */
  #names = [];
  /** @type {Round[]} */
  #rounds = [];
  #shown = 0;
  /** @type {Revealed|null} */
  #revealed = null;
  #seats = 0;
  #place = layout(0, 0, 1, 0, false);
  #lines = linesIn(this.#place);
  #ties = svg("g", { class: "ties" });

  /**
   * @param {HTMLElement} frame Holds the canvas, the caption and the buttons.
   * @param {HTMLElement} key Lists the types that are revealed.
   * @param {(round: Round) => void} onRound Called when a round is shown.
   */
  constructor(frame, key, onRound) {
    this.onRound = onRound;
    this.svg = within(frame, "svg", SVGSVGElement);
    this.canvas = within(frame, ".arena-canvas");
    this.caption = within(frame, ".caption");
    this.buttons = within(frame, ".rounds");
    this.key = key;
    new ResizeObserver(() => this.#resized()).observe(this.canvas);
  }

  /**
   * Clear the arena for a new episode.
   * @param {number} count Bidders.
   */
  seat(count) {
    this.hurry();
    this.#seats = count;
    this.#revealed = null;
    this.load([]);
  }

  /**
   * Show the last of some rounds, without motion.
   * @param {Round[]} rounds
   */
  load(rounds) {
    this.#rounds = rounds;
    this.#build();
    this.#listRounds();
    if (rounds.length) this.#draw(rounds.length - 1, 1);
    else this.caption.textContent = `${this.#seats} bidders are waiting.`;
  }

  /**
   * Play the rounds of a step.
   * @param {Round[]} rounds
   * @param {() => number} speed Asked before every round, so that it can change meanwhile.
   * @param {wire.Reveal|null} told The hidden side of these rounds; null hides it.
   */
  async play(rounds, speed, told) {
    const before = this.#rounds.at(-1);
    this.#rounds = rounds;
    this.#hiddenSide(told);
    this.#build();
    this.#listRounds();
    for (const [index, round] of rounds.entries()) {
      this.#title(round, "bids come in");
      const previous = index ? rounds[index - 1] : before;
      await this.#clock.run(ROUND / speed(), (time) => this.#draw(index, time, previous));
      this.onRound(round);
    }
  }

  /** Show the end of the round that is being played. */
  hurry() {
    this.#clock.hurry();
  }

  /**
   * Show the bidders' types and values, or hide them.
   * @param {wire.Reveal|null} told Null hides the types.
   */
  reveal(told) {
    this.#hiddenSide(told);
    this.#build();
    if (this.#rounds.length) this.#draw(this.#shown, 1);
  }

  /** @param {wire.Reveal|null} told */
  #hiddenSide(told) {
    this.#revealed = told && asRevealed(told);
    this.svg.classList.toggle("revealed", told !== null);
    this.#listTypes();
  }

  #resized() {
    if (!this.canvas.clientWidth) return; // it is hidden
    if (this.#clock.running) this.hurry();
    this.#build();
    if (this.#rounds.length) this.#draw(this.#shown, 1);
  }

  #build() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const extras = Math.max(0, ...this.#rounds.map((round) => round.false_bids.length));
    this.#place = layout(width, height, this.#seats, extras, this.#revealed !== null);
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.#names = Array.from({ length: this.#seats + extras }, (_, index) => this.#name(index));
    this.#lines = linesIn(this.#place);
    this.#ties = svg("g", { class: "ties" });
    this.svg.replaceChildren(
      axis(this.#place),
      ...(this.#rounds.length ? [] : [invitation(this.#place)]),
      this.#ties,
      ...this.#names.map(({ group }) => group),
      ...(this.#rounds.length ? [this.#lines.reserve.group, this.#lines.price.group] : []),
    );
  }

  /** @param {number} index Of a seat, or after the seats of a false name. */
  #name(index) {
    const extra = index >= this.#seats;
    const label = extra ? "?" : String(index + 1);
    const type = this.#revealed?.bidders[index]?.type;
    const caption = type ? words(type).toLowerCase() : "";
    const kind = type ? this.#revealed?.kinds.get(type) : undefined;
    return makeName(this.#place, this.#place.x(index), { label, caption, kind, extra });
  }

  /**
   * Draw a moment of a round.
   * @param {number} index
   * @param {number} time 0 is the begin of the round, 1 its end.
   * @param {Round} [previous] What the motion begins with.
   */
  #draw(index, time, previous = this.#rounds[index]) {
    const round = this.#rounds[index];
    this.#shown = index;
    this.#names.forEach((_, seat) => this.#drawName(seat, round, previous, time));
    this.#drawValues(index, time);
    this.#drawLines(round, previous, time);
    this.#drawTies(index, time);
    if (time === 1) this.#describe(index);
  }

  /**
   * @param {number} seat
   * @param {Round} round
   * @param {Round} previous
   * @param {number} time
   */
  #drawName(seat, round, previous, time) {
    const name = this.#names[seat];
    const offer = offerOf(round, seat, this.#seats);
    const former = offerOf(previous, seat, this.#seats).bid;
    const delay = 0.1 + (0.14 * seat) / this.#names.length;
    const falling = between(former, 0, part(time, 0, 0.1));
    const height = time < delay ? falling : offer.bid * part(time, delay, 0.3);
    const { y, floor } = this.#place;
    set(name.bar, { y: y(height), height: floor - y(height) });
    name.group.classList.toggle("out", !offer.present);
    name.group.classList.toggle("below", offer.bid > 0 && offer.bid < round.reserve);
    this.#drawSale(name, offer, part(time, 0.66, 0.14));
  }

  /**
   * Draw an outline as high as each bidder's value, behind its bid.
   * @param {number} index
   * @param {number} time
   */
  #drawValues(index, time) {
    const values = this.#revealed?.values[index] ?? [];
    const grown = part(time, 0, 0.1);
    const { y, floor } = this.#place;
    this.#names.forEach(({ value: outline }, seat) => {
      const top = y((values[seat] ?? 0) * grown);
      set(outline, { y: top, height: floor - top });
    });
  }

  /**
   * @param {ReturnType<typeof makeName>} name
   * @param {ReturnType<typeof offerOf>} offer
   * @param {number} share How far the dots have grown, 0 to 1.
   */
  #drawSale({ group, paid: mark, dots }, { bid, units, paid, unkept: left }, share) {
    const { y, head } = this.#place;
    const radius = Math.min(5.5, Math.max(2.5, head * 0.7));
    const count = left ? 1 : units;
    group.classList.toggle("won", units > 0 && share > 0);
    group.classList.toggle("left", left && share > 0);
    set(mark, { y1: y(paid), y2: y(paid) });
    dots.forEach((dot, unit) => {
      const up = radius + 5 + unit * (2 * radius + 2);
      set(dot, { cy: y(bid) - up, r: unit < count ? radius * share : 0 });
    });
  }

  /**
   * @param {Round} round
   * @param {Round} previous
   * @param {number} time
   */
  #drawLines(round, previous, time) {
    const { y } = this.#place;
    const { reserve, price } = this.#lines;
    const own = pricesDiffer(round);
    const shown = time > 0.46 && round.delivered.some(Boolean) && !own;
    this.svg.classList.toggle("own-prices", own);
    const lowest = between(previous.reserve, round.reserve, part(time, 0, 0.2));
    const paid = between(previous.price, round.price, part(time, 0.46, 0.22));
    const near = Math.abs(y(paid) - y(lowest)) < 14; // pixels; then one word stands above the other
    reserve.move(y(lowest), `reserve ${fixed(round.reserve)}`, near ? 8 : 0);
    price.move(y(paid), `price ${fixed(round.price)}`, near ? -6 : 0);
    set(price.group, { class: `line price${shown ? "" : " faint"}` });
  }

  /**
   * @param {number} index
   * @param {number} time
   */
  #drawTies(index, time) {
    const owners = (time === 1 && this.#revealed?.owners[index]) || [];
    const { x, floor, head } = this.#place;
    const bottom = floor + 6 + head + figureHeight(head);
    this.#ties.replaceChildren(
      ...owners.map((owner, extra) =>
        svg("path", { d: tie(x(owner), x(this.#seats + extra), bottom) }),
      ),
    );
  }

  /** @param {number} index */
  #describe(index) {
    const round = this.#rounds[index];
    const text = roundInWords(round);
    this.#title(round, text);
    const bids = bidsInWords(round, this.#revealed?.bidders, this.#revealed?.values[index]);
    this.svg.setAttribute("aria-label", `Round ${round.number}: ${text}; ${bids}`);
    [...this.buttons.children].forEach((button, each) =>
      set(button, { "aria-pressed": String(each === index) }),
    );
  }

  /**
   * @param {Round} round
   * @param {string} text
   */
  #title(round, text) {
    this.caption.replaceChildren(el("b", { text: `Round ${round.number}` }), ` ${text}`);
  }

  #listRounds() {
    this.buttons.replaceChildren(...this.#rounds.map((round, index) => this.#button(round, index)));
  }

  /**
   * @param {Round} round
   * @param {number} index
   */
  #button(round, index) {
    const title = `Look at round ${round.number} again`;
    const label = `${index + 1}: look at round ${round.number} again`; // begins with what is seen
    const attributes = { type: "button", title, "aria-label": label, "aria-pressed": "false" };
    const click = () => this.lookAt(index);
    return el("button", { ...attributes, text: String(index + 1), on: { click } });
  }

  /**
   * Show the end of one of the step's rounds.
   * @param {number} index
   */
  lookAt(index) {
    this.hurry();
    if (!this.#rounds[index]) return;
    this.#draw(index, 1);
    this.onRound(this.#rounds[index]);
  }

  #listTypes() {
    const { bidders, kinds } = this.#revealed ?? { bidders: [], kinds: new Map() };
    this.key.replaceChildren(...[...kinds].map(([type, kind]) => typeItem(type, kind, bidders)));
    this.key.hidden = !kinds.size;
  }
}

/** @param {ReturnType<typeof layout>} place */
function linesIn(place) {
  return { reserve: line("reserve", place), price: line("price", place) };
}

/**
 * @param {wire.Reveal} told
 * @returns {Revealed}
 */
function asRevealed({ bidders, false_names: owners, values }) {
  const types = [...new Set(bidders.map(({ type }) => type))].sort();
  return { bidders, owners, values, kinds: colours(types) };
}
