/** The episode as a link: its options, the rules of its steps, and the visitor's own rules. */

/** @import { Session } from "./session.js" */

/** @typedef {{options: Partial<wire.EpisodeOptions>, played: wire.Mechanism[], rules: wire.Mechanism}} Linked */

const LONGEST = 6000; // characters of its steps; servers and proxies refuse addresses of 8 to 16 kB
const NUMBERS = /** @type {const} */ (["n_agents", "episode_length", "seed"]);

/** Writes episodes as links, and reads them. */
export class Links {
  /** @param {wire.MechanismField[]} fields */
  constructor(fields) {
    this.fields = fields;
    this.defaults = Object.fromEntries(fields.map((field) => [field.name, field.default]));
  }

  /**
   * Return the part of the address that opens this episode, and how many of its steps it holds: those
   * that fit.
   * @param {Session} session
   * @param {wire.Mechanism} rules The visitor's own.
   */
  write({ options, steps }, rules) {
    const known = Object.entries(options).filter(([, value]) => value !== null && value !== undefined);
    const query = new URLSearchParams(known.map(([name, value]) => [name, String(value)]));
    let before = this.defaults;
    let [held, length] = [0, 0];
    for (const { mechanism } of steps) {
      const changes = this.#changes(before, mechanism);
      length += `&step=${encodeURIComponent(changes)}`.length;
      if (length > LONGEST) break;
      query.append("step", changes);
      before = mechanism;
      held += 1;
    }
    query.append("rules", this.#changes(before, rules));
    return { search: `?${query}`, held };
  }

  /**
   * Return what a link says; null if it names no episode.
   * @param {string} search
   * @returns {Linked|null}
   */
  read(search) {
    const query = new URLSearchParams(search);
    if (!query.has("seed")) return null;
    /** @type {Partial<wire.EpisodeOptions>} */
    const options = {};
    for (const name of NUMBERS) if (query.has(name)) options[name] = Number(query.get(name));
    options.population = query.get("population") ?? undefined;
    options.market = query.get("market") ?? undefined;
    options.objective = query.get("objective") ?? undefined;
    let last = this.defaults;
    const played = query.getAll("step").map((text) => (last = this.#changed(last, text)));
    return { options, played, rules: this.#changed(last, query.get("rules") ?? "") };
  }

  /**
   * @param {wire.Mechanism} before
   * @param {wire.Mechanism} after
   */
  #changes(before, after) {
    const names = this.fields.map(({ name }) => name).filter((name) => before[name] !== after[name]);
    return names.map((name) => `${name}:${after[name]}`).join(",");
  }

  /**
   * Return a mechanism with changes as `write` has written them. What is no field is left out; the
   * server refuses what is out of range.
   * @param {wire.Mechanism} before
   * @param {string} text
   */
  #changed(before, text) {
    const after = { ...before };
    for (const part of text.split(",")) {
      const [name, value] = part.split(":");
      const field = this.fields.find((each) => each.name === name);
      if (field) after[name] = typed(field, value ?? "");
    }
    return after;
  }
}

/**
 * @param {wire.MechanismField} field
 * @param {string} value
 * @returns {wire.Value}
 */
function typed({ kind }, value) {
  if (kind === "number") return Number(value);
  return kind === "flag" ? value === "true" : value;
}
