/** The API: one function for each endpoint, and its errors in words. */

import { duration, sentence } from "./format.js";

const A_MINUTE = 60; // seconds
const TOO_MANY = 429; // a proxy's answer to too many requests; the service has not seen this one
const MOST_WAITS = 2; // for the proxy, before the page gives up
const LONGEST_WAIT = 60; // seconds; nobody waits longer for a page that says nothing

/** The server refused a request. Status 0 means that no server answered. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {wire.FieldProblem[]} [detail] Fields that were wrong.
   * @param {number|null} [retryAfter] Seconds.
   */
  constructor(status, message, detail = [], retryAfter = null) {
    super(message);
    this.status = status;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }

  /** Whether the server no longer has the session, or the session has no episode. */
  get lost() {
    return this.status === 404 || this.status === 409;
  }
}

/**
 * Return whether a request was cancelled by this page.
 * @param {unknown} error
 */
export function isCancelled(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/**
 * Return an error in words, with advice.
 * @param {unknown} error
 * @returns {string}
 */
export function explain(error) {
  if (!(error instanceof ApiError)) {
    return sentence(`this page failed: ${error instanceof Error ? error.message : error}`);
  }
  if (error.status === 0) {
    return "The server does not answer. Check that it is running, then try again.";
  }
  if (error.status === 503) return `${sentence(error.message)} ${retryAdvice(error.retryAfter)}`;
  const fields = error.detail.map(({ field, allowed }) => `${field}: ${allowed}`).join("; ");
  return fields ? sentence(`${error.message} – ${fields}`) : sentence(error.message);
}

/** @param {number|null} seconds */
function retryAdvice(seconds) {
  if (!seconds) return "Try again in a moment.";
  if (seconds < A_MINUTE) return `Try again in ${duration(seconds)}.`;
  const time = new Date(Date.now() + 1000 * seconds);
  const clock = time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return `Try again in ${duration(seconds)}, at ${clock}.`;
}

/**
 * Return the body of an answer. If a proxy asks for patience, wait and ask again.
 * @param {string} path
 * @param {RequestInit} [options]
 * @param {number} [waits] How often to wait.
 * @returns {Promise<any>} JSON; the functions below say what each endpoint answers.
 */
async function request(path, options, waits = MOST_WAITS) {
  const { response, text } = await answerTo(path, options);
  const body = parsed(text);
  if (response.ok) return body;
  const retryAfter = Number(response.headers.get("Retry-After")) || null;
  if (response.status === TOO_MANY && retryAfter && retryAfter <= LONGEST_WAIT && waits) {
    await pause(retryAfter, options?.signal);
    return request(path, options, waits - 1);
  }
  /** @type {Partial<wire.Problem>} */
  const { error = `the server answered ${response.status}`, detail } = body;
  throw new ApiError(response.status, error, detail, retryAfter);
}

/**
 * Return an answer and its whole text. Both a connection and a body may break off.
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function answerTo(path, options) {
  try {
    const response = await fetch(path, options);
    return { response, text: await response.text() };
  } catch (error) {
    throw isCancelled(error) ? error : new ApiError(0, "no answer");
  }
}

/**
 * @param {number} seconds
 * @param {AbortSignal|null} [signal] Ends the wait, with its reason.
 * @returns {Promise<void>}
 */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** @param {string} text JSON, or what a proxy in between wrote in its place. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/**
 * @param {string} path
 * @param {Record<string, string>} [query]
 */
function get(path, query = {}) {
  const search = new URLSearchParams(query).toString();
  return request(search ? `${path}?${search}` : path);
}

/**
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

/** The endpoints that the page uses. `id` names a session; a signal cancels a request. */
export const api = {
  /** @returns {Promise<wire.Offer>} */
  catalogue: () => get("/api/catalogue"),
  /** @returns {Promise<wire.Tour>} */
  tour: () => get("/api/tour"),
  /** @returns {Promise<wire.TrainingCurves>} */
  training: () => get("/api/training"),
  /** @returns {Promise<wire.DesignerState>} */
  designerStatus: () => get("/api/designer/status"),
  /** @type {(id: string) => Promise<wire.DaedalusState>} */
  state: (id) => get("/state", { session_id: id }),
  /** @type {(id: string) => Promise<wire.Arena>} */
  arena: (id) => get("/api/arena", { session_id: id }),
  /** @type {(id: string) => Promise<wire.Reveal>} */
  reveal: (id) => get("/api/reveal", { session_id: id }),
  /** @type {(id: string) => Promise<wire.Truth>} */
  truth: (id) => get("/api/truth", { session_id: id }),
  /**
   * @type {(id: string, options: Partial<wire.EpisodeOptions>, signal?: AbortSignal) =>
   *   Promise<wire.ResetAnswer>}
   */
  reset: (id, options, signal) => post("/reset", { session_id: id, ...options }, signal),
  /**
   * @type {(id: string, action: wire.Mechanism, signal?: AbortSignal) =>
   *   Promise<wire.StepAnswer>}
   */
  step: (id, action, signal) => post("/step", { session_id: id, action }, signal),
  /**
   * Make a report on a log of bids; the answer says where it is.
   * @type {(log: Partial<wire.BidLog>, signal?: AbortSignal) => Promise<wire.BidReport>}
   */
  bids: (log, signal) => post("/api/bids", log, signal),
  /**
   * Ask for what a brief says, or its clauses.
   * @type {(id: string, asked: Partial<wire.DesignRequest>, signal?: AbortSignal) => Promise<wire.DesignAnswer>}
   */
  brief: (id, asked, signal) => post("/api/design", { session_id: id, ...asked }, signal),
  /**
   * @type {(id: string, designer: string, signal?: AbortSignal) => Promise<wire.DesignAnswer>}
   */
  design: (id, designer, signal) => post("/api/design", { session_id: id, designer }, signal),
};
