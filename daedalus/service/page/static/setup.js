/** Who comes to the market: population, rules of the market, number, length and seed. */

import { byId, el, set } from "./dom.js";
import { sentence, words } from "./format.js";

/** The form with which an episode begins. */
export class Setup {
  /** @param {Object} catalogue As `/api/catalogue` answers. */
  constructor(catalogue) {
    this.catalogue = catalogue;
    this.form = byId("setup");
    this.population = byId("population");
    this.market = byId("market");
    this.population.replaceChildren(...catalogue.populations.map(populationOption));
    this.market.replaceChildren(...catalogue.markets.map(marketOption));
    set(byId("episode_length"), { max: catalogue.max_episode_length });
    this.population.addEventListener("change", () => this.#populationChosen());
    this.market.addEventListener("change", () => this.#explain());
    byId("draw").addEventListener("click", () => this.#drawSeed());
    this.show({ ...catalogue.default, episode_length: catalogue.episode_length });
    this.#explain();
  }

  /** What an episode shall begin with; null leaves a choice to the server. */
  get options() {
    const number = (id) => (byId(id).value === "" ? null : Number(byId(id).value));
    return {
      population: this.population.value,
      market: this.market.value,
      n_agents: number("n_agents"),
      episode_length: number("episode_length"),
      seed: number("seed"),
    };
  }

  /** Whether what is written can be sent; if not, the browser says what is wrong. */
  get valid() {
    return this.form.reportValidity();
  }

  /** Show the choices of an episode; those that are not named stay. */
  show(options) {
    for (const [name, value] of Object.entries(options)) {
      if (value !== undefined) byId(name).value = value ?? "";
    }
    this.#offerMarkets();
    this.#explain();
  }

  #chosen() {
    return this.catalogue.populations.find(({ name }) => name === this.population.value);
  }

  #populationChosen() {
    byId("n_agents").value = "";
    this.#offerMarkets();
    this.#explain();
  }

  #drawSeed() {
    [byId("seed").value] = crypto.getRandomValues(new Uint32Array(1));
  }

  #offerMarkets() {
    const offered = this.#chosen()?.markets ?? [];
    for (const option of this.market.options) option.disabled = !offered.includes(option.value);
    if (!offered.includes(this.market.value)) [this.market.value] = offered;
  }

  #explain() {
    const population = this.#chosen();
    if (!population) return;
    byId("n_agents").placeholder = String(population.bidders);
    const { meaning } = this.catalogue.markets.find(({ name }) => name === this.market.value);
    const types = population.types.map(({ name }) => words(name).toLowerCase()).join(", ");
    const strategic = this.market.value === "strategic";
    const who = strategic && types ? `Types: ${types}. ` : "";
    byId("setup-meaning").textContent = `${who}${sentence(meaning)}`;
  }
}

function populationOption({ name }) {
  return el("option", { value: name, text: words(name) });
}

function marketOption({ name }) {
  return el("option", { value: name, text: words(name) });
}
