/** The public API: one function for each endpoint, and what its errors mean in words. */

import { duration, sentence } from "./format.js";

/** An answer that refuses; `status` 0 is no answer at all. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {{field: string, allowed: string}[]} [detail] Fields that were wrong.
   * @param {number|null} [retryAfter] Seconds.
   */
  constructor(status, message, detail = [], retryAfter = null) {
    super(message);
    Object.assign(this, { status, detail, retryAfter });
  }

  /** Whether the session is not there any more, or has no episode. */
  get lost() {
    return this.status === 404 || this.status === 409;
  }
}

/**
 * Return an error in words, with what to do about it.
 * @param {Error} error
 * @returns {string}
 */
export function explain(error) {
  if (!(error instanceof ApiError)) return sentence(`this page failed: ${error.message}`);
  if (error.status === 0) return "The server does not answer. See that it runs, then try again.";
  if (error.status === 503) return `${sentence(error.message)} ${retryAdvice(error.retryAfter)}`;
  const fields = error.detail.map(({ field, allowed }) => `${field}: ${allowed}`).join("; ");
  return fields ? sentence(`${error.message} – ${fields}`) : sentence(error.message);
}

function retryAdvice(seconds) {
  if (!seconds) return "Try again in a moment.";
  const time = new Date(Date.now() + 1000 * seconds);
  const clock = time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return `A place should be free in ${duration(seconds)}, at ${clock} at the latest.`;
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "no answer");
  }
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const retryAfter = Number(response.headers.get("Retry-After")) || null;
  const message = body.error ?? `the server answered ${response.status}`;
  throw new ApiError(response.status, message, body.detail ?? [], retryAfter);
}

function get(path, query = {}) {
  const search = new URLSearchParams(query).toString();
  return request(search ? `${path}?${search}` : path);
}

function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

/** Every endpoint that the page uses. */
export const api = {
  catalogue: () => get("/api/catalogue"),
  tour: () => get("/api/tour"),
  training: () => get("/api/training"),
  designerStatus: () => get("/api/designer/status"),
  state: (id) => get("/state", { session_id: id }),
  arena: (id) => get("/api/arena", { session_id: id }),
  reveal: (id) => get("/api/reveal", { session_id: id }),
  reset: (id, options, signal) => post("/reset", { session_id: id, ...options }, signal),
  step: (id, action, signal) => post("/step", { session_id: id, action }, signal),
  design: (id, designer, signal) => post("/api/design", { session_id: id, designer }, signal),
};
