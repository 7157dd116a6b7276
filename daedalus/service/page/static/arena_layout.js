/** The geometry of the arena, in pixels. */

const MARGIN = { top: 36, right: 88, left: 30 };
const NARROW = 520; // pixels; below this width, the names of the lines stand inside
const INSIDE = 10; // pixels of right margin in that case
const LINE = 15; // pixels, for a number or a type under a seat
export const CAPTIONED = 46; // pixels that a seat needs for a word
const NUMBERED = 13; // pixels that a seat needs to carry its number
const GAP = 0.7; // places between the bidders and the false names

/**
 * Return the geometry of an arena.
 * @param {number} width
 * @param {number} height
 * @param {number} seats Bidders.
 * @param {number} extras False names, at most.
 * @param {boolean} captioned Whether the bidders' types stand under the seats.
 * @returns {{width: number, height: number, left: number, right: number, floor: number,
 *   place: number, bar: number, head: number, numbered: boolean, inside: boolean,
 *   x: (index: number) => number, y: (value: number) => number}} `x` takes the seats, then the false
 *   names. `numbered` says that the seats have numbers. `inside` says that there is no room for
 *   words beside the lines. The floor is the same with false names and without.
 */
export function layout(width, height, seats, extras, captioned) {
  const inside = width < NARROW;
  const right = width - (inside ? INSIDE : MARGIN.right);
  const place = (right - MARGIN.left) / (seats + (extras ? extras + GAP : 0));
  const widest = (right - MARGIN.left) / seats; // without false names
  const lines = (widest >= NUMBERED ? LINE : 0) + (captioned && widest >= CAPTIONED ? LINE : 0);
  const floor = height - (14 + headOf(widest) + figureHeight(headOf(widest)) + lines);
  /** @type {(index: number) => number} */
  const shift = (index) => index + 0.5 + (index >= seats ? GAP : 0);
  return {
    width,
    height,
    left: MARGIN.left,
    right,
    inside,
    floor,
    place,
    bar: Math.min(40, Math.max(2, place * 0.5)),
    head: headOf(place),
    numbered: place >= NUMBERED,
    x: (index) => MARGIN.left + place * shift(index),
    y: (value) => floor - Math.min(1.04, value) * (floor - MARGIN.top),
  };
}

/** @param {number} place Pixels that a seat has. */
const headOf = (place) => Math.min(9, Math.max(1.5, place * 0.19));

/**
 * Return the path of a bidder's shoulders around x = 0, below the head.
 * @param {number} head Radius of the head.
 */
export function shoulders(head) {
  const wide = head * 1.75;
  const top = head * 1.35;
  return `M${-wide} ${top + wide}a${wide} ${wide} 0 0 1 ${2 * wide} 0z`;
}

/**
 * Return how far below the middle of the head the shoulders end.
 * @param {number} head Radius of the head.
 */
export const figureHeight = (head) => head * 3.1;

/**
 * Return the path of an arc under the floor, from one place to another.
 * @param {number} from
 * @param {number} to
 * @param {number} y
 */
export function tie(from, to, y) {
  return `M${from} ${y}Q${(from + to) / 2} ${y + 26} ${to} ${y}`;
}
