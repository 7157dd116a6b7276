/** The tour: six stops. Each shows an attack on an auction, then the rules that answer it. */

import { api } from "./api.js";
import { byId, el } from "./dom.js";
import { fixed, mean } from "./format.js";
import { announce, guarded, notice } from "./notices.js";
/** @import { Step } from "./session.js" */

const STEPS = 5; // with the rules that invite the attack, and as many with the better ones

/**
 * @typedef {Object} Stage The parts of the page that the tour moves.
 * @property {import("./session.js").Session} session
 * @property {import("./controls.js").Controls} controls
 * @property {import("./designer.js").DesignerPanel} designer
 * @property {import("./player.js").Player} player
 * @property {import("./log.js").Log} log
 * @property {(options: Partial<wire.EpisodeOptions>) => Promise<void>} begin
 */

/** The card that leads through the stops. */
export class Tour {
  /** @type {wire.TourStop[]} */
  #stops = [];
  #at = 0;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.card = byId("tour");
    this.buttons = {
      hurt: byId("tour-hurt", HTMLButtonElement),
      fix: byId("tour-fix", HTMLButtonElement),
      back: byId("tour-back", HTMLButtonElement),
      next: byId("tour-next", HTMLButtonElement),
    };
    const { hurt, fix, back, next } = this.buttons;
    byId("tour-start").addEventListener("click", guarded(() => this.start()));
    byId("tour-exit").addEventListener("click", () => this.leave());
    back.addEventListener("click", guarded(() => this.#go(this.#at - 1)));
    next.addEventListener("click", guarded(() => this.#go(this.#at + 1)));
    hurt.addEventListener("click", guarded(() => this.#play(this.#stop.hurt)));
    fix.addEventListener("click", guarded(() => this.#play(this.#stop.fixed)));
    stage.player.addEventListener("change", () => this.#refresh());
    stage.player.addEventListener("played", () => this.#refresh());
  }

  /** Begin at the first stop. */
  async start() {
    if (!this.#stops.length) this.#stops = (await api.tour()).stops;
    if (this.#stops.length) await this.#go(0);
    else notice("This server offers none of the populations of the tour.");
  }

  /** End the tour; the episode stays. */
  leave() {
    this.card.hidden = true;
    document.body.classList.remove("touring");
    byId("tour-start").focus();
  }

  get #stop() {
    return this.#stops[this.#at];
  }

  /** @param {number} index */
  async #go(index) {
    if (index < 0) return;
    if (index >= this.#stops.length) {
      this.leave();
      return;
    }
    this.#at = index;
    const { population, market, seed, n_agents: bidders, hurt } = this.#stop;
    const options = { population, market, seed, n_agents: bidders, episode_length: 2 * STEPS };
    await this.stage.begin(options);
    this.stage.designer.hand(false);
    this.stage.controls.set(hurt);
    this.card.hidden = false;
    document.body.classList.add("touring");
    this.#describe();
    this.#refresh();
  }

  /** @param {wire.Mechanism} mechanism */
  async #play(mechanism) {
    const { controls, designer, player } = this.stage;
    await player.stop();
    designer.hand(false);
    controls.set(mechanism);
    byId("arena-frame").scrollIntoView({ block: "nearest" });
    await player.run(STEPS);
    announce(`Mean R ${fixed(meanReward(this.#played(mechanism)), 3)} with these rules.`);
  }

  #describe() {
    const { title, attack, watch, fix, hurt, fixed: better, changed } = this.#stop;
    const last = this.#at + 1 === this.#stops.length;
    byId("tour-number").textContent = `Stop ${this.#at + 1} of ${this.#stops.length}`;
    byId("tour-title").textContent = title;
    byId("tour-attack").textContent = attack;
    byId("tour-watch").textContent = watch;
    byId("tour-why").textContent = fix;
    const texts = this.stage.log.changes(hurt, better);
    byId("tour-changes").replaceChildren(...texts.map((text) => el("li", { text })));
    byId("tour-dots").replaceChildren(...this.#stops.map((stop, index) => this.#dot(stop, index)));
    this.buttons.next.textContent = last ? "End the tour" : "Next stop";
    this.buttons.back.disabled = this.#at === 0;
    byId("tour-title").focus();
    this.card.dataset.changed = changed.join(" ");
  }

  /**
   * @param {wire.TourStop} stop
   * @param {number} index
   */
  #dot({ title }, index) {
    const current = index === this.#at ? "step" : false;
    const label = `Stop ${index + 1}: ${title}`;
    const go = guarded(() => this.#go(index));
    const attributes = { type: "button", title: label, "aria-label": label, "aria-current": current };
    return el("button", { ...attributes, on: { click: go } });
  }

  #refresh() {
    if (this.card.hidden || !this.#stops.length) return;
    const { playing } = this.stage.player;
    const { hurt, fix, next } = this.buttons;
    const [before, after] = [this.#stop.hurt, this.#stop.fixed].map((each) => this.#played(each));
    const seen = before.length > 0 && !(playing && !after.length);
    hurt.hidden = seen;
    byId("tour-cure").hidden = !seen;
    fix.hidden = !seen || after.length > 0;
    for (const button of [hurt, fix]) button.disabled = playing;
    next.classList.toggle("primary", after.length > 0 && !playing);
    showMean("before", before);
    showMean("after", after);
    byId("tour-gain").textContent = before.length && after.length ? gain(before, after) : "";
  }

  /** @param {wire.Mechanism} mechanism */
  #played(mechanism) {
    const { session, controls } = this.stage;
    return session.steps.filter((step) => !controls.changed(step.mechanism, mechanism).length);
  }
}

/**
 * @param {"before"|"after"} part
 * @param {Step[]} steps
 */
function showMean(part, steps) {
  const value = meanReward(steps);
  byId(`tour-${part}`).textContent = fixed(value, 3);
  byId(`tour-${part}-bar`, HTMLProgressElement).value = steps.length ? value : 0;
}

/** @param {Step[]} steps */
function meanReward(steps) {
  return mean(steps.map(({ reward }) => reward));
}

/**
 * @param {Step[]} before
 * @param {Step[]} after
 */
function gain(before, after) {
  const difference = meanReward(after) - meanReward(before);
  return `${difference < 0 ? "−" : "+"}${fixed(Math.abs(difference), 3)}`;
}
