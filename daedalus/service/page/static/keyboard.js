/** Shortcuts: single keys, while nothing is being written and unless they are switched off. */

import { byId } from "./dom.js";

const WRITING = "input:not([type=checkbox]):not([type=radio]):not([type=range]), select, textarea";
const OWN_SPACE = "button, summary, a, input, select, textarea";

/**
 * Listen for keys.
 * @param {Object<string, () => void>} actions By key, in lower case.
 */
export function listenForKeys(actions) {
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!actions[key] || !applies(event)) return;
    event.preventDefault();
    actions[key]();
  });
}

function applies(event) {
  if (!byId("shortcuts").checked || event.repeat) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  return !event.target.closest(event.key === " " ? OWN_SPACE : WRITING);
}
