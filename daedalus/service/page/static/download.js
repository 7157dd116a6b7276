/** The episode as a file: a table of its steps, or everything as JSON. */

/** @import { Session, Step } from "./session.js" */

/**
 * Return the steps as a table, one row for each.
 * @param {Step[]} steps
 */
export function asTable(steps) {
  const rows = steps.map(({ mechanism, source, reward, scores, revenue }, index) => ({
    step: index + 1,
    source,
    reward,
    ...scores,
    revenue,
    ...mechanism,
  }));
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map(Object.values)];
  return lines.map((cells) => `${cells.map(quoted).join(",")}\r\n`).join("");
}

/**
 * Return the episode as JSON.
 * @param {Session} session
 */
export function asJson({ options, incumbent, steps }) {
  const told = steps.map(({ mechanism, source, reward, scores, revenue }) => {
    return { mechanism, source, reward, scores, revenue };
  });
  return JSON.stringify({ options, incumbent, steps: told }, null, 2);
}

/**
 * Let the browser save a text as a file.
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function save(name, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href));
}

/** @param {unknown} cell */
function quoted(cell) {
  const text = String(cell);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
