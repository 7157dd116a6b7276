/** Single-key shortcuts. They rest while the visitor types or reads a dialog, and can be switched off. */

import { byId } from "./dom.js";

const WRITING = "input:not([type=checkbox]):not([type=radio]):not([type=range]), select, textarea";
const OWN_SPACE = "button, summary, a, input, select, textarea";

/**
 * Listen for keys.
 * @param {Record<string, () => void>} actions By key, in lower case.
 */
export function listenForKeys(actions) {
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!actions[key] || !applies(event)) return;
    event.preventDefault();
    actions[key]();
  });
}

/** @param {KeyboardEvent} event */
function applies(event) {
  if (!byId("shortcuts", HTMLInputElement).checked || event.repeat) return false;
  if (document.querySelector("dialog[open]")) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { target } = event;
  return !(target instanceof Element && target.closest(event.key === " " ? OWN_SPACE : WRITING));
}
