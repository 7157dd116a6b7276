/** The form that begins an episode: population, market, bidders, steps and seed. */

import { told } from "./asked.js";
import { byId, el, set } from "./dom.js";
import { sentence, words } from "./format.js";

const PENDING = "These settings are new. Reset or Step begins an episode with them.";

/** The form that begins an episode. */
export class Setup {
  /** @param {wire.Offer} catalogue */
  constructor(catalogue) {
    this.catalogue = catalogue;
    this.form = byId("setup", HTMLFormElement);
    this.fields = {
      population: byId("population", HTMLSelectElement),
      market: byId("market", HTMLSelectElement),
      objective: byId("objective", HTMLSelectElement),
      n_agents: byId("n_agents", HTMLInputElement),
      episode_length: byId("episode_length", HTMLInputElement),
      seed: byId("seed", HTMLInputElement),
    };
    const { population, market, objective, episode_length: steps } = this.fields;
    population.replaceChildren(...catalogue.populations.map(option));
    market.replaceChildren(...catalogue.markets.map(option));
    objective.replaceChildren(...catalogue.objectives.map(objectiveOption));
    set(steps, { max: catalogue.max_episode_length });
    population.addEventListener("change", () => this.#populationChosen());
    market.addEventListener("change", () => this.#explain());
    byId("draw").addEventListener("click", () => this.#drawSeed());
    this.form.addEventListener("input", () => this.#mark());
    this.begun = "";
    this.show({ ...catalogue.default, episode_length: catalogue.episode_length });
  }

  /**
   * What the visitor has chosen.
   * @returns {wire.EpisodeOptions}
   */
  get options() {
    const { population, market, objective, n_agents: bidders, episode_length: steps, seed } =
      this.fields;
    return {
      population: population.value,
      market: market.value,
      objective: objective.value,
      n_agents: numberIn(bidders),
      episode_length: numberIn(steps),
      seed: numberIn(seed),
    };
  }

  /** Whether the form shows another episode than the one that has begun. */
  get pending() {
    return this.begun !== JSON.stringify(this.options);
  }

  /** Whether the form can be sent. If not, the browser says what is wrong. */
  get valid() {
    return this.form.reportValidity();
  }

  /**
   * Show the choices of an episode; the others stay.
   * @param {Partial<wire.EpisodeOptions>} options
   */
  show(options) {
    for (const [name, field] of Object.entries(this.fields)) {
      const value = options[/** @type {keyof wire.EpisodeOptions} */ (name)];
      if (value !== undefined) field.value = String(value ?? "");
    }
    this.#offerMarkets();
    this.#explain();
    this.begun = JSON.stringify(this.options);
    this.#mark();
  }

  #mark() {
    byId("reset").classList.toggle("primary", this.pending);
    byId("setup-pending").textContent = this.pending ? PENDING : "";
  }

  #chosen() {
    return this.catalogue.populations.find(({ name }) => name === this.fields.population.value);
  }

  #populationChosen() {
    this.fields.n_agents.value = "";
    this.#offerMarkets();
    this.#explain();
  }

  #drawSeed() {
    this.fields.seed.value = String(crypto.getRandomValues(new Uint32Array(1))[0]);
    this.form.dispatchEvent(new Event("input"));
  }

  #offerMarkets() {
    const { market } = this.fields;
    const offered = this.#chosen()?.markets ?? [];
    for (const each of market.options) each.disabled = !offered.includes(each.value);
    if (!offered.includes(market.value)) market.value = offered[0] ?? "";
  }

  #explain() {
    const { n_agents: bidders, market } = this.fields;
    const population = this.#chosen();
    if (!population) return;
    const strategic = market.value !== "classic";
    const drawn = strategic ? population.ranges : {};
    bidders.placeholder = drawn.bidders?.join("–") ?? String(population.bidders);
    bidders.disabled = population.asked !== null;
    const chosen = this.catalogue.markets.find(({ name }) => name === market.value);
    const types = population.types.map(({ name }) => words(name).toLowerCase()).join(", ");
    const listed = population.asked ? `${told(population.asked)} ` : strategic && types ? `Types: ${types}. ` : "";
    const about = `${listed}${rangesIn(drawn)}`;
    byId("setup-meaning").textContent = chosen ? `${about}${sentence(chosen.meaning)}` : "";
  }
}

/**
 * Say what each episode draws, or nothing if all episodes are alike.
 * @param {Record<string, number[]>} ranges
 */
function rangesIn(ranges) {
  const each = Object.entries(ranges).map(
    ([name, ends]) => `${words(name).toLowerCase()} ${ends.join("–")}`,
  );
  return each.length ? `Each episode draws: ${each.join(", ")}. ` : "";
}

/** @param {HTMLInputElement} field */
function numberIn({ value }) {
  return value === "" ? null : Number(value);
}

/** @param {wire.Meaning} objective */
function objectiveOption({ name, meaning }) {
  const text = name === "composite" ? "R" : words(name);
  return el("option", { value: name, text, title: sentence(meaning) });
}

/** @param {{name: string}} choice */
function option({ name }) {
  return el("option", { value: name, text: words(name) });
}
