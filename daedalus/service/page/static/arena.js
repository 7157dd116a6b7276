/** The arena: who came, what was bid, what it sold for, round by round. */

import { figureHeight, layout, tie } from "./arena_layout.js";
import { axis, hatching, invitation, line, makeName } from "./arena_parts.js";
import { byId, el, set, svg } from "./dom.js";
import { fixed, words } from "./format.js";
import { between, Clock, part } from "./motion.js";

const ROUND = 1150; // milliseconds at speed 1
const KINDS = 8; // colours for types

const STRATEGIES = {
  opt_out: "may stay out",
  shade: "bids low",
  withdraw: "may walk away",
  collude: "colludes",
  shill: "uses false names",
};

/** Draws rounds, and what is hidden once it is revealed. */
export class Arena {
  #clock = new Clock();
  #names = [];
  #rounds = [];
  #shown = 0;
  #revealed = null;
  #seats = 0;

  /** @param {(round: Object) => void} onRound Called when a round is shown. */
  constructor(onRound) {
    this.onRound = onRound;
    this.svg = byId("arena");
    this.caption = byId("arena-caption");
    this.buttons = byId("arena-rounds");
    this.key = byId("arena-types");
    new ResizeObserver(() => this.#resized()).observe(this.svg.parentElement);
  }

  /** Clear the arena for an episode of so many bidders. */
  seat(count) {
    this.hurry();
    this.#seats = count;
    this.#revealed = null;
    this.load([]);
  }

  /** Show the last of some rounds, without motion. */
  load(rounds) {
    this.#rounds = rounds;
    this.#build();
    this.#listRounds();
    if (rounds.length) this.#draw(rounds.length - 1, 1);
    else this.caption.textContent = `${this.#seats} bidders wait. A step is five sales.`;
  }

  /**
   * Play the rounds of a step.
   * @param {Object[]} rounds
   * @param {() => number} speed Asked before every round, so that it can change meanwhile.
   */
  async play(rounds, speed) {
    const before = this.#rounds.at(-1);
    this.#rounds = rounds;
    this.#revealed &&= { ...this.#revealed, owners: [] };
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

  /** Show who is who: `bidders` by seat, and the owners of false names by round; null hides it. */
  reveal(bidders, owners) {
    this.#revealed = bidders && { bidders, owners, types: typesOf(bidders) };
    this.#build();
    this.#listTypes();
    if (this.#rounds.length) this.#draw(this.#shown, 1);
  }

  #resized() {
    if (this.#clock.running) this.hurry();
    this.#build();
    if (this.#rounds.length) this.#draw(this.#shown, 1);
  }

  #build() {
    const { clientWidth: width, clientHeight: height } = this.svg.parentElement;
    const extras = Math.max(0, ...this.#rounds.map((round) => round.false_bids.length));
    this.place = layout(width, height, this.#seats, extras, this.#revealed !== null);
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.#names = Array.from({ length: this.#seats + extras }, (_, index) => this.#name(index));
    this.lines = { reserve: line("reserve", this.place), price: line("price", this.place) };
    this.ties = svg("g", { class: "ties" });
    this.svg.replaceChildren(
      hatching(),
      axis(this.place),
      ...(this.#rounds.length ? [] : [invitation(this.place)]),
      this.ties,
      ...this.#names.map(({ group }) => group),
      ...(this.#rounds.length ? [this.lines.reserve.group, this.lines.price.group] : []),
    );
  }

  #name(index) {
    const extra = index >= this.#seats;
    const known = this.#revealed?.bidders[index];
    const kind = known && this.#revealed.types.indexOf(known.type) % KINDS;
    const label = extra ? "?" : String(index + 1);
    const caption = known ? words(known.type).toLowerCase() : "";
    return makeName(this.place, this.place.x(index), { label, caption, kind, extra });
  }

  #draw(index, time, previous = this.#rounds[index]) {
    const round = this.#rounds[index];
    this.#shown = index;
    this.#names.forEach((name, seat) => this.#drawName(name, seat, round, previous, time));
    this.#drawLines(round, previous, time);
    this.#drawTies(index, time);
    if (time === 1) this.#describe(index);
  }

  #drawName(name, seat, round, previous, time) {
    const offer = offerOf(round, seat, this.#seats);
    const former = previous ? offerOf(previous, seat, this.#seats).bid : 0;
    const delay = 0.1 + (0.14 * seat) / this.#names.length;
    const falling = between(former, 0, part(time, 0, 0.1));
    const height = time < delay ? falling : offer.bid * part(time, delay, 0.3);
    const { y, floor } = this.place;
    set(name.bar, { y: y(height), height: floor - y(height) });
    name.group.classList.toggle("out", !offer.present);
    name.group.classList.toggle("below", offer.bid > 0 && offer.bid < round.reserve);
    this.#drawSale(name, offer, part(time, 0.66, 0.14));
  }

  #drawSale({ group, dots }, { bid, units, unkept: left }, share) {
    const { y, head } = this.place;
    const radius = Math.min(5.5, Math.max(2.5, head * 0.7));
    const count = left ? 1 : units;
    group.classList.toggle("won", units > 0 && share > 0);
    group.classList.toggle("left", left && share > 0);
    dots.forEach((dot, unit) => {
      const up = radius + 5 + unit * (2 * radius + 2);
      set(dot, { cy: y(bid) - up, r: unit < count ? radius * share : 0 });
    });
  }

  #drawLines(round, previous, time) {
    const { y } = this.place;
    const at = (name, share) => y(between((previous ?? round)[name], round[name], share));
    const sold = round.price > 0;
    this.lines.reserve.move(at("reserve", part(time, 0, 0.2)), `reserve ${fixed(round.reserve)}`);
    this.lines.price.move(at("price", part(time, 0.46, 0.22)), `price ${fixed(round.price)}`);
    set(this.lines.price.group, { class: `line price${sold && time > 0.46 ? "" : " faint"}` });
  }

  #drawTies(index, time) {
    const owners = (time === 1 && this.#revealed?.owners[index]) || [];
    const { x, floor, head } = this.place;
    const bottom = floor + 6 + head + figureHeight(head);
    this.ties.replaceChildren(
      ...owners.map((owner, extra) =>
        svg("path", { d: tie(x(owner), x(this.#seats + extra), bottom) }),
      ),
    );
  }

  #describe(index) {
    const round = this.#rounds[index];
    const text = roundInWords(round);
    this.#title(round, text);
    this.svg.setAttribute("aria-label", `Round ${round.number}: ${text}; ${bidsInWords(round)}`);
    [...this.buttons.children].forEach((button, each) =>
      set(button, { "aria-pressed": String(each === index) }),
    );
  }

  #title(round, text) {
    this.caption.replaceChildren(el("b", { text: `Round ${round.number}` }), ` ${text}`);
  }

  #listRounds() {
    const button = (round, index) =>
      el("button", {
        type: "button",
        text: String(index + 1),
        title: `Look at round ${round.number} again`,
        "aria-label": `Look at round ${round.number} again`,
        "aria-pressed": "false",
        on: { click: () => this.#lookAt(index) },
      });
    this.buttons.replaceChildren(...this.#rounds.map(button));
  }

  #lookAt(index) {
    this.hurry();
    this.#draw(index, 1);
    this.onRound(this.#rounds[index]);
  }

  #listTypes() {
    const { bidders, types } = this.#revealed ?? { bidders: [], types: [] };
    const item = (type, index) => {
      const same = bidders.filter((each) => each.type === type);
      const menu = same[0].menu.map((each) => STRATEGIES[each] ?? words(each)).join(", ");
      const name = el("b", { text: `${words(type)} × ${same.length}:` });
      const chip = el("span", { class: `chip type-${index % KINDS}` });
      return el("li", {}, chip, name, ` ${menu || "says what it is worth to it"}`);
    };
    this.key.replaceChildren(...types.map(item));
    this.key.hidden = !types.length;
  }
}

function typesOf(bidders) {
  return [...new Set(bidders.map(({ type }) => type))].sort();
}

function offerOf(round, seat, seats) {
  const unkept = round.unkept[seat] ?? false;
  if (seat >= seats) {
    const bid = round.false_bids[seat - seats] ?? 0;
    return { bid, units: 0, present: bid > 0, unkept };
  }
  const [bid, units, present] = [round.bids[seat], round.delivered[seat], round.present[seat]];
  return { bid, units, present, unkept };
}

function roundInWords({ present, delivered, false_bids: extras, unkept, price }) {
  const units = delivered.reduce((sum, each) => sum + each, 0);
  const [came, left] = [present, unkept].map((each) => each.filter(Boolean).length);
  const parts = [
    `${came} of ${present.length} came`,
    extras.length ? `${extras.length} more ${extras.length > 1 ? "names" : "name"} bid` : "",
    units ? `${units} sold at ${fixed(price)}` : "nothing was sold",
    left ? `${left} won and walked away` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

function bidsInWords(round) {
  const one = (bid, seat) =>
    round.present[seat]
      ? `bidder ${seat + 1} bid ${fixed(bid)}${round.delivered[seat] ? " and won" : ""}`
      : `bidder ${seat + 1} stayed out`;
  return round.bids.map(one).join(", ");
}
