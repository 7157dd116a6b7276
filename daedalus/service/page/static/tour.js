/** The tour: six stops. At each, an attack is seen; then the same rounds are played under both rules. */

import { api } from "./api.js";
import { byId, el } from "./dom.js";
import { fixed, mean } from "./format.js";
import { announce, guarded, notice } from "./notices.js";
import { gainedMost, means, predictions, showLessons, showResult, verdict } from "./tour_card.js";
/** @import { Result } from "./tour_card.js" */

const STEPS = 5; // under the rules that invite the attack; then as many under both

/**
 * @typedef {Object} Stage The parts of the page that the tour moves.
 * @property {import("./session.js").Session} session
 * @property {import("./controls.js").Controls} controls
 * @property {import("./designer.js").DesignerPanel} designer
 * @property {import("./player.js").Player} player
 * @property {import("./log.js").Log} log
 * @property {import("./reveal.js").Reveal} reveal
 * @property {import("./second_arena.js").Twin} twin
 * @property {(options: Partial<wire.EpisodeOptions>) => Promise<void>} begin
 * @property {() => Promise<void>} beginFreely Begins an episode of the visitor's own.
 */

/** The card that leads through the stops. */
export class Tour {
  /** @type {wire.TourStop[]} */
  #stops = [];
  #at = 0;
  /** @type {Map<string, Result>} */
  #results = new Map();
  /** @type {Map<string, boolean>} Whether each prediction came true, by stop. */
  #guesses = new Map();

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.card = byId("tour");
    this.form = byId("tour-predict", HTMLFormElement);
    this.buttons = {
      hurt: byId("tour-hurt", HTMLButtonElement),
      fix: byId("tour-fix", HTMLButtonElement),
      back: byId("tour-back", HTMLButtonElement),
      next: byId("tour-next", HTMLButtonElement),
    };
    const { hurt, back, next } = this.buttons;
    byId("tour-choices").append(...predictions());
    byId("tour-start").addEventListener("click", guarded(() => this.start()));
    byId("tour-exit").addEventListener("click", () => this.leave());
    byId("tour-free").addEventListener("click", guarded(() => this.#playFreely()));
    back.addEventListener("click", guarded(() => this.#go(this.#at - 1)));
    next.addEventListener("click", guarded(() => this.#go(this.#at + 1)));
    hurt.addEventListener("click", guarded(() => this.#attack()));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("submit", guarded(() => this.#playBoth()));
    stage.player.addEventListener("change", () => this.#refresh());
    stage.player.addEventListener("played", () => this.#refresh());
  }

  /** Begin at the first stop. */
  async start() {
    if (!this.#stops.length) this.#stops = (await api.tour()).stops;
    if (this.#stops.length) await this.#go(0);
    else notice("This server offers none of the populations of the tour.");
  }

  /** End the tour; the episode stays, and the visitor's rules come back. */
  leave() {
    const { designer, player, twin } = this.stage;
    player.pause();
    twin.close();
    player.companion = null;
    designer.hand(false);
    this.card.hidden = true;
    document.body.classList.remove("touring");
    byId("tour-start").focus();
  }

  get #stop() {
    return this.#stops[this.#at];
  }

  /** @param {number} index After the last stop comes the end. */
  async #go(index) {
    if (index < 0) return;
    this.#at = Math.min(index, this.#stops.length);
    this.stage.twin.close();
    this.stage.player.companion = null;
    if (this.#stop) await this.#prepare();
    this.card.hidden = false;
    document.body.classList.add("touring");
    this.#describe();
    this.#refresh();
    byId("tour-title").focus();
  }

  async #prepare() {
    const { population, market, seed, n_agents: bidders, hurt } = this.#stop;
    const objective = "composite"; // the stops explain R
    const { begin, controls, designer, reveal } = this.stage;
    const length = 2 * STEPS;
    const stop = this.#stop;
    await begin({ population, market, objective, seed, n_agents: bidders, episode_length: length });
    if (stop !== this.#stop) return; // the visitor went on
    designer.hand(false);
    controls.lend(hurt);
    controls.enable(false);
    await reveal.toggle();
    this.form.reset();
  }

  async #attack() {
    byId("tour-note").scrollIntoView({ block: narrow() ? "start" : "nearest" });
    const { player, session } = this.stage;
    await player.run(STEPS);
    if (session.steps.length !== STEPS) return; // the visitor left
    player.arena.lookAt(this.#stop.shown);
    this.#note("The round shown:", this.#stop.seen);
    announce(`Mean R ${fixed(mean(session.steps.map(({ reward }) => reward)))}.`);
  }

  /** Play the next steps under the new rules, and beside them the same steps under the old. */
  async #playBoth() {
    const { controls, player, session, twin } = this.stage;
    const { name, hurt, fixed: better, compared } = this.#stop;
    if (!(await twin.begin(session, hurt))) return; // the visitor left
    player.companion = twin;
    controls.lend(better);
    this.#describe();
    byId("tour-note").scrollIntoView({ block: narrow() ? "start" : "nearest" });
    await player.run(STEPS);
    if (!session.done || twin.steps.length < STEPS) return; // the visitor left
    for (const { arena } of [player, twin]) arena.lookAt(compared);
    const result = { old: means(twin.steps), better: means(session.steps.slice(STEPS)) };
    const predicted = String(new FormData(this.form).get("prediction"));
    this.#results.set(name, result);
    this.#guesses.set(name, predicted === gainedMost(result));
    byId("tour-guess").textContent = verdict(predicted, result);
    showResult(result);
    this.#refresh();
    announce(byId("tour-guess").textContent ?? "");
  }

  async #playFreely() {
    this.leave();
    await this.stage.beginFreely();
    byId("step").focus();
  }

  #describe() {
    const ended = !this.#stop;
    const { length } = this.#stops;
    byId("tour-number").textContent = ended ? "The end" : `Stop ${this.#at + 1} of ${length}`;
    byId("tour-dots").replaceChildren(...this.#stops.map((stop, index) => this.#dot(stop, index)));
    byId("tour-stop").hidden = ended;
    byId("tour-end").hidden = !ended;
    byId("tour-note").hidden = ended;
    this.buttons.back.disabled = this.#at === 0;
    this.buttons.next.hidden = ended;
    this.buttons.next.textContent = this.#at + 1 === length ? "What you saw" : "Next stop";
    if (ended) this.#sumUp();
    else this.#describeStop();
  }

  #describeStop() {
    const { title, attack, watch, contrast, fix, hurt, fixed: better } = this.#stop;
    const { twin, log } = this.stage;
    byId("tour-title").textContent = title;
    byId("tour-attack").textContent = attack;
    byId("tour-words", HTMLDetailsElement).open = this.#at === 0 && !twin.open;
    this.#note("Watch:", twin.open ? contrast : watch);
    byId("tour-why").textContent = fix;
    const texts = log.changes(hurt, better);
    byId("tour-changes").replaceChildren(...texts.map((text) => el("li", { text })));
  }

  /**
   * Write what to look at, above the arena.
   * @param {string} word
   * @param {string} text
   */
  #note(word, text) {
    byId("tour-note").replaceChildren(el("b", { text: word }), ` ${text}`);
  }

  #sumUp() {
    const right = [...this.#guesses.values()].filter(Boolean).length;
    const count = this.#guesses.size;
    byId("tour-title").textContent = "What the attacks taught";
    byId("tour-right").textContent = count ? `${right} of your ${count} predictions came true.` : "";
    showLessons(this.#stops, this.#results);
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
    if (this.card.hidden || !this.#stop) return;
    const { player, session, twin } = this.stage;
    const seen = session.steps.length >= STEPS && !(player.playing && !twin.open);
    const over = session.done && !player.playing;
    this.buttons.hurt.hidden = seen;
    this.buttons.hurt.disabled = player.playing || player.running;
    this.form.hidden = !seen || over;
    this.buttons.fix.disabled = player.playing || player.running;
    byId("tour-result").hidden = !over;
    this.buttons.next.classList.toggle("primary", over);
  }
}

/** Whether the card and the arena do not fit beside each other. */
function narrow() {
  return window.matchMedia("(max-width: 980px)").matches;
}
