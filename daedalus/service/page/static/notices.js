/** What the page has to say: problems aloud, news politely. */

import { explain } from "./api.js";
import { byId, el } from "./dom.js";

/** Show a message until it is dismissed or the next one comes. */
export function notice(text, kind = "news") {
  const close = el("button", { type: "button", text: "Dismiss", on: { click: clearNotice } });
  const box = el("div", { class: `notice ${kind}` }, el("p", { text }), close);
  byId("notices").replaceChildren(box);
}

/** Take the message away. */
export function clearNotice() {
  byId("notices").replaceChildren();
}

/** Say in words what went wrong. */
export function problem(error) {
  if (error.name === "AbortError") return;
  if (!error.status && error.status !== 0) console.error(error);
  notice(explain(error), "problem");
}

/** Tell who does not see the page what has just happened. */
export function announce(text) {
  byId("live").textContent = text;
}

/** Return a listener that runs something asynchronous and says what went wrong with it. */
export function guarded(action) {
  return async (event) => {
    try {
      await action(event);
    } catch (error) {
      problem(error);
    }
  };
}
