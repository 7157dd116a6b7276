/** Plays an episode beside the visitor's own, in a session of its own. */

import { api } from "./api.js";

/**
 * @typedef {Object} Plan An episode.
 * @property {string} id Names the session.
 * @property {Partial<wire.EpisodeOptions>} options
 * @property {number} length Steps.
 * @property {AbortSignal} signal Cancels it.
 */

/**
 * Play an episode from its first step, and yield the answer to each step.
 * @param {Plan} plan
 * @param {(step: number) => wire.Mechanism|Promise<wire.Mechanism>} decide Steps count from 0.
 */
export async function* sideGame({ id, options, length, signal }, decide) {
  await api.reset(id, options, signal);
  for (let step = 0; step < length; step += 1) {
    yield await api.step(id, await decide(step), signal);
  }
}
