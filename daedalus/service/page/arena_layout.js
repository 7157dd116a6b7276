/** Where things stand in the arena: pure geometry, in pixels. */

const MARGIN = { top: 26, right: 88, bottom: 64, left: 30 };
const NARROW = 520; // pixels; below, lines carry their names inside
const INSIDE = 10; // pixels, the right margin then
const CAPTION = 15; // pixels, for the name of a type
const GAP = 0.7; // between bidders and extra names, in places

/**
 * Return the geometry of an arena.
 * @param {number} width
 * @param {number} height
 * @param {number} seats Bidders.
 * @param {number} extras Names at most that belong to no seat.
 * @param {boolean} captioned Whether types are written under the seats.
 * @returns {{width: number, height: number, left: number, right: number, floor: number,
 *   place: number, bar: number, head: number, inside: boolean, x: (index: number) => number,
 *   y: (value: number) => number}} `x` takes seats first, then extra names; `inside` says that
 *   there is no room for words beside the lines.
 */
export function layout(width, height, seats, extras, captioned) {
  const inside = width < NARROW;
  const right = width - (inside ? INSIDE : MARGIN.right);
  const floor = height - MARGIN.bottom - (captioned ? CAPTION : 0);
  const place = (right - MARGIN.left) / (seats + (extras ? extras + GAP : 0));
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
    head: Math.min(9, Math.max(1.5, place * 0.19)),
    x: (index) => MARGIN.left + place * shift(index),
    y: (value) => floor - Math.min(1.04, value) * (floor - MARGIN.top),
  };
}

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
