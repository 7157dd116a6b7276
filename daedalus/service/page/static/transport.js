/** The buttons Step, Auto, Pause and Reset, and the speed. */

import { byId } from "./dom.js";
import { fixed, mean } from "./format.js";
import { guarded } from "./notices.js";
/** @import { Player } from "./player.js" */
/** @import { Setup } from "./setup.js" */
/** @import { Session } from "./session.js" */

/** @type {[number, string][]} */
const SPEEDS = [
  [0.5, "half speed"],
  [1, "normal"],
  [2, "double"],
  [4, "fast"],
  [Infinity, "at once"],
];

/** The buttons that move an episode. */
export class Transport {
  /**
   * @param {Player} player
   * @param {Setup} setup
   * @param {(options: wire.EpisodeOptions) => Promise<void>} begin Begins a new episode.
   * @param {(options: wire.EpisodeOptions) => Promise<void>} open Also plays its first step.
   */
  constructor(player, setup, begin, open) {
    this.player = player;
    this.setup = setup;
    this.begin = begin;
    this.open = open;
    /** @type {() => Promise<void>} Begins the first episode again, where that has failed. */
    this.start = async () => {};
    this.buttons = {
      step: byId("step", HTMLButtonElement),
      auto: byId("auto", HTMLButtonElement),
      pause: byId("pause", HTMLButtonElement),
    };
    this.slider = byId("speed", HTMLInputElement);
    this.buttons.step.addEventListener("click", guarded(() => this.#step()));
    this.buttons.auto.addEventListener("click", guarded(() => this.#auto()));
    this.buttons.pause.addEventListener("click", () => player.pause());
    byId("setup").addEventListener("submit", (event) => event.preventDefault());
    byId("setup").addEventListener("submit", guarded(() => this.#reset(this.open)));
    byId("setup").addEventListener("input", () => this.refresh());
    this.slider.addEventListener("input", () => this.#speed());
    player.addEventListener("change", () => this.refresh());
    this.#speed();
  }

  /** Enable the buttons that can be used now. */
  refresh() {
    const { session, running, playing } = this.player;
    const { step, auto, pause } = this.buttons;
    const over = session.done && !this.setup.pending;
    step.disabled = over;
    auto.disabled = over || running;
    pause.disabled = !running;
    byId("progress").textContent = progress(session);
    document.body.classList.toggle("done", session.done && !playing);
  }

  async #step() {
    if (await this.#asShown()) await this.player.step();
  }

  async #auto() {
    if (await this.#asShown()) await this.player.run();
  }

  /** @param {(options: wire.EpisodeOptions) => Promise<void>} begin */
  async #reset(begin) {
    if (this.setup.valid) await begin(this.setup.options);
  }

  /** Begin an episode if there is none or the form shows another; return whether the arena is as the form. */
  async #asShown() {
    await this.player.stop(); // or an episode that is beginning would count as another one
    if (this.setup.pending) await this.#reset(this.begin);
    else if (!this.player.session.state) await this.start();
    return !this.setup.pending;
  }

  #speed() {
    const stop = Number(this.slider.value);
    const [speed, name] = SPEEDS[stop];
    this.player.speed = speed;
    this.slider.setAttribute("aria-valuetext", name);
    this.slider.style.setProperty("--filled", `${25 * stop}%`);
    byId("speed-name").textContent = name;
    if (speed === Infinity) this.player.arena.hurry();
  }
}

/** @param {Session} session */
function progress({ steps, state, done, scoreName }) {
  const text = `Step ${steps.length} of ${state?.episode_length ?? "–"}`;
  if (!done) return text;
  return `${text}, mean ${scoreName} ${fixed(mean(steps.map(({ reward }) => reward)), 3)}`;
}
