/** Numbers and names, written for readers. */

const ACRONYMS = new Set(["vcg", "ai"]); // in lower case, as in names

/**
 * Return a number with a fixed count of decimals, or a dash.
 * @param {number|null|undefined} value
 * @param {number} [decimals]
 * @returns {string}
 */
export function fixed(value, decimals = 2) {
  return isNumber(value) ? value.toFixed(decimals) : "–";
}

/**
 * Return whether a value is a finite number.
 * @param {unknown} value
 * @returns {value is number}
 */
export function isNumber(value) {
  return Number.isFinite(value);
}

/**
 * Return a field's or choice's name as words: `first_price` is "First price".
 * @param {string} name
 * @returns {string}
 */
export function words(name) {
  const text = name
    .replace(/([a-z])(\d)/g, "$1_$2")
    .split("_")
    .map((word) => (ACRONYMS.has(word) ? word.toUpperCase() : word))
    .join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Return what texts call the score of an objective: R, or the objective's name.
 * @param {string} [objective]
 * @returns {string}
 */
export function scoreName(objective = "composite") {
  return objective === "composite" ? "R" : words(objective).toLowerCase();
}

/**
 * Return a mechanism's value as words.
 * @param {wire.Value} value
 * @returns {string}
 */
export function shown(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return fixed(value);
  return words(value).toLocaleLowerCase("en").replace("vcg", "VCG");
}

/**
 * Return a text that starts with a capital and ends with a full stop.
 * @param {string} text
 * @returns {string}
 */
export function sentence(text) {
  const trimmed = text.trim();
  const start = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}

/**
 * Return a time in words, rounded.
 * @param {number} seconds
 * @returns {string}
 */
export function duration(seconds) {
  if (seconds < 1) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  if (seconds < 90) return `${seconds < 10 ? seconds.toFixed(1) : Math.ceil(seconds)} s`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

/**
 * Return the mean of some numbers; NaN of none.
 * @param {number[]} numbers
 * @returns {number}
 */
export function mean(numbers) {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
