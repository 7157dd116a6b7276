/** Messages to the visitor: problems, news, and words for screen readers. */

import { ApiError, explain, isCancelled } from "./api.js";
import { byId, el } from "./dom.js";

/**
 * Show a message until the visitor dismisses it or the next message comes.
 * @param {string} text
 * @param {"news"|"problem"} [kind]
 */
export function notice(text, kind = "news") {
  const close = el("button", { type: "button", text: "Dismiss", on: { click: clearNotice } });
  const box = el("div", { class: `notice ${kind}` }, el("p", { text }), close);
  byId("notices").replaceChildren(box);
}

/** Take the message away. */
export function clearNotice() {
  byId("notices").replaceChildren();
}

/**
 * Say in words what went wrong. A request that the visitor cancelled is no problem.
 * @param {unknown} error
 */
export function problem(error) {
  if (isCancelled(error)) return;
  if (!(error instanceof ApiError)) console.error(error);
  notice(explain(error), "problem");
}

/**
 * Tell users of screen readers what has happened.
 * @param {string} text
 */
export function announce(text) {
  byId("live").textContent = text;
}

/**
 * Return a listener that runs an action and says what went wrong with it.
 * @param {() => unknown} action May be asynchronous.
 */
export function guarded(action) {
  return async () => {
    try {
      await action();
    } catch (error) {
      problem(error);
    }
  };
}
