/** The tour: attacks on an auction, each seen to hurt and then to be answered. */

import { api } from "./api.js";
import { byId, el } from "./dom.js";
import { fixed, mean } from "./format.js";
import { announce, guarded, notice } from "./notices.js";

const STEPS = 5; // under the bad rules, and as many under the better ones

/**
 * @typedef {Object} Stage What the tour moves.
 * @property {import("./session.js").Session} session
 * @property {import("./rules.js").Rules} rules
 * @property {import("./designer.js").DesignerPanel} designer
 * @property {import("./player.js").Player} player
 * @property {import("./log.js").Log} log
 * @property {(options: Object) => Promise<void>} begin
 */

/** The card that leads through the stops. */
export class Tour {
  #stops = null;
  #at = 0;

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.card = byId("tour");
    byId("tour-start").addEventListener("click", guarded(() => this.start()));
    byId("tour-exit").addEventListener("click", () => this.leave());
    byId("tour-back").addEventListener("click", guarded(() => this.#go(this.#at - 1)));
    byId("tour-next").addEventListener("click", guarded(() => this.#go(this.#at + 1)));
    byId("tour-hurt").addEventListener("click", guarded(() => this.#play(this.#stop.hurt)));
    byId("tour-fix").addEventListener("click", guarded(() => this.#play(this.#stop.fixed)));
    stage.player.addEventListener("change", () => this.#refresh());
    stage.player.addEventListener("played", () => this.#refresh());
  }

  /** Begin at the first stop. */
  async start() {
    this.#stops ??= (await api.tour()).stops;
    if (!this.#stops.length) return notice("This server offers none of the markets of the tour.");
    await this.#go(0);
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
    this.stage.rules.set(hurt);
    this.card.hidden = false;
    document.body.classList.add("touring");
    this.#describe();
    this.#refresh();
  }

  async #play(mechanism) {
    const { rules, designer, player } = this.stage;
    await player.stop();
    designer.hand(false);
    rules.set(mechanism);
    byId("arena-frame").scrollIntoView({ block: "nearest" });
    await player.run(STEPS);
    announce(`Mean R ${fixed(meanReward(this.#played(mechanism)), 3)} under these rules.`);
  }

  #describe() {
    const { title, attack, watch, fix, hurt, fixed: better, changed } = this.#stop;
    byId("tour-number").textContent = `Stop ${this.#at + 1} of ${this.#stops.length}`;
    byId("tour-title").textContent = title;
    byId("tour-attack").textContent = attack;
    byId("tour-watch").textContent = watch;
    byId("tour-why").textContent = fix;
    const texts = this.stage.log.changes(hurt, better);
    byId("tour-changes").replaceChildren(...texts.map((text) => el("li", { text })));
    byId("tour-dots").replaceChildren(...this.#stops.map((_, index) => this.#dot(index)));
    byId("tour-next").textContent =
      this.#at + 1 < this.#stops.length ? "Next stop" : "End the tour";
    byId("tour-back").disabled = this.#at === 0;
    byId("tour-title").focus();
    this.card.dataset.changed = changed.join(" ");
  }

  #dot(index) {
    const { title } = this.#stops[index];
    const current = index === this.#at ? "step" : false;
    const label = `Stop ${index + 1}: ${title}`;
    const go = guarded(() => this.#go(index));
    const attributes = { type: "button", title: label, "aria-label": label, "aria-current": current };
    return el("button", { ...attributes, on: { click: go } });
  }

  #refresh() {
    if (this.card.hidden || !this.#stops) return;
    const { player } = this.stage;
    const [before, after] = [this.#stop.hurt, this.#stop.fixed].map((each) => this.#played(each));
    const seen = before.length > 0 && !(player.playing && !after.length);
    byId("tour-hurt").hidden = seen;
    byId("tour-cure").hidden = !seen;
    byId("tour-fix").hidden = !seen || after.length > 0;
    for (const id of ["tour-hurt", "tour-fix"]) byId(id).disabled = player.playing;
    byId("tour-next").classList.toggle("primary", after.length > 0 && !player.playing);
    this.#result("before", before);
    this.#result("after", after);
    byId("tour-gain").textContent = before.length && after.length ? gain(before, after) : "";
  }

  #result(part, steps) {
    const value = meanReward(steps);
    byId(`tour-${part}`).textContent = fixed(value, 3);
    byId(`tour-${part}-bar`).value = Number.isFinite(value) ? value : 0;
  }

  #played(mechanism) {
    const { session, rules } = this.stage;
    return session.steps.filter((step) => !rules.changed(step.mechanism, mechanism).length);
  }
}

function meanReward(steps) {
  return mean(steps.map(({ reward }) => reward));
}

function gain(before, after) {
  const difference = meanReward(after) - meanReward(before);
  return `${difference < 0 ? "−" : "+"}${fixed(Math.abs(difference), 3)}`;
}
