/** The parts of the arena: figures, bars, lines and the axis. */

import { CAPTIONED, figureHeight, shoulders } from "./arena_layout.js";
import { set, svg } from "./dom.js";

/** @typedef {ReturnType<import("./arena_layout.js").layout>} Layout */

const KINDS = 8; // colours for types
const KNOWN = ["colluder", "dropout", "exploiter", "shader", "truthful", "cartel", "rota"];

/**
 * Return the number of each type's colour. A known type has the same one in every population.
 * @param {string[]} types
 */
export function colours(types) {
  const all = Array.from({ length: KINDS }, (_, kind) => kind);
  const free = all.filter((kind) => !types.includes(KNOWN[kind]));
  const own = types.filter((type) => !KNOWN.includes(type));
  /** @param {string} type */
  const colour = (type) =>
    KNOWN.includes(type) ? KNOWN.indexOf(type) : free[own.indexOf(type) % free.length];
  return new Map(types.map((type) => [type, colour(type)]));
}

/**
 * Return a name's bar, the outline of its value, the mark of its own price, its dots for units, and
 * the group with its figure.
 * @param {Layout} place
 * @param {number} x Pixels.
 * @param {{label: string, caption: string, kind: number|undefined, extra: boolean}} name `kind` is
 *   the number of its colour; `extra` says that it is a false name.
 */
export function makeName(place, x, { label, caption, kind, extra }) {
  const { bar: width } = place;
  const bar = svg("rect", { class: "bid", x: -width / 2, width, rx: Math.min(3, width / 3) });
  const value = svg("rect", { class: "value", x: -width / 2 - 3, width: width + 6, rx: 3, height: 0 });
  const paid = svg("line", { class: "paid", x1: -width / 2 - 6, x2: width / 2 + 6 });
  const dots = [0, 0].map((r) => svg("circle", { class: "sold", r }));
  const names = ["name", extra ? "extra" : "", kind === undefined ? "" : `type-${kind}`];
  const group = svg("g", { class: names.filter(Boolean).join(" "), transform: `translate(${x} 0)` });
  group.append(value, bar, paid, ...dots, figure(place, label, caption));
  return { group, bar, value, paid, dots };
}

/**
 * @param {Layout} place
 * @param {string} label
 * @param {string} caption
 */
function figure({ floor, head, place, numbered }, label, caption) {
  const under = figureHeight(head) + 14;
  const word = place >= CAPTIONED ? caption : "";
  return svg(
    "g",
    { class: "figure", transform: `translate(0 ${floor + 6 + head})` },
    svg("circle", { r: head }),
    svg("path", { d: shoulders(head) }),
    svg("text", { class: "seat", y: under, text: numbered ? label : "" }),
    svg("text", { class: "seat kind", y: under + 14, text: word }),
  );
}

/**
 * Return the scale of values and the floor.
 * @param {Layout} place
 */
export function axis({ left, right, floor, y }) {
  /** @param {number} value */
  const tick = (value) => [
    svg("line", { x1: left, x2: right, y1: y(value), y2: y(value) }),
    svg("text", { x: left - 8, y: y(value) + 4, text: value.toFixed(1) }),
  ];
  const ground = svg("line", { class: "ground", x1: left, x2: right, y1: floor, y2: floor });
  return svg("g", { class: "axis" }, ...[0.2, 0.4, 0.6, 0.8, 1].flatMap(tick), ground);
}

/**
 * Return a line across the arena, and a function that moves it.
 * @param {string} name Its class.
 * @param {Layout} place
 */
export function line(name, { left, right, inside }) {
  const text = svg("text", { x: right + 5 });
  const group = svg("g", { class: `line ${name}` }, svg("line", { x1: left, x2: right }), text);
  /** @type {(y: number, label: string, below: number) => void} */
  const move = (y, label, below) => {
    set(text, { y: 4 + below });
    set(group, { transform: `translate(0 ${y})` });
    text.textContent = inside ? "" : label; // there it would cover bars; the caption has the price
  };
  return { group, move };
}

/**
 * Return the words of an arena before the first round.
 * @param {Layout} place
 */
export function invitation({ left, right, y }) {
  const text = "No round has been played yet.";
  return svg("text", { class: "invitation", x: (left + right) / 2, y: y(0.5) + 6, text });
}
