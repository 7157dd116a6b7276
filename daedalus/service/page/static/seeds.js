/** Several seeds: which they are, and what an average over them is worth. */

import { fixed, mean } from "./format.js";

const MOST = Number.MAX_SAFE_INTEGER; // the highest seed that the server takes
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093,
]; // Student's t, 97.5 %, for 1 to 19 degrees of freedom

/**
 * Return consecutive seeds.
 * @param {number} first
 * @param {number} count
 */
export function seedsFrom(first, count) {
  const start = Math.min(first, MOST - count + 1);
  return Array.from({ length: count }, (_, index) => start + index);
}

/** @param {number[]} seeds Consecutive. */
export function inWords(seeds) {
  const last = seeds[seeds.length - 1];
  return seeds.length === 1 ? `seed ${last}` : `seeds ${seeds[0]} to ${last}`;
}

/**
 * Return the 95 % t interval of a mean in brackets.
 * @param {number[]} numbers 2 to 20 of them.
 */
export function intervalInWords(numbers) {
  const centre = mean(numbers);
  const squares = numbers.map((each) => (each - centre) ** 2);
  const variance = (mean(squares) * numbers.length) / (numbers.length - 1);
  const half = T[numbers.length - 2] * Math.sqrt(variance / numbers.length);
  return `[${fixed(centre - half, 3)}, ${fixed(centre + half, 3)}]`;
}
