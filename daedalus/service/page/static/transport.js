/** The buttons Step, Auto, Pause and Reset, and the speed. */

import { byId } from "./dom.js";
import { fixed, mean } from "./format.js";
import { guarded } from "./notices.js";
/** @import { Player } from "./player.js" */
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
   * @param {() => Promise<void>} begin Begins a new episode.
   */
  constructor(player, begin) {
    this.player = player;
    this.buttons = {
      step: byId("step", HTMLButtonElement),
      auto: byId("auto", HTMLButtonElement),
      pause: byId("pause", HTMLButtonElement),
    };
    this.slider = byId("speed", HTMLInputElement);
    this.buttons.step.addEventListener("click", guarded(() => this.#step()));
    this.buttons.auto.addEventListener("click", guarded(() => player.run()));
    this.buttons.pause.addEventListener("click", () => player.pause());
    byId("setup").addEventListener("submit", (event) => event.preventDefault());
    byId("setup").addEventListener("submit", guarded(begin));
    this.slider.addEventListener("input", () => this.#speed());
    player.addEventListener("change", () => this.refresh());
    this.#speed();
  }

  /** Enable the buttons that can be used now. */
  refresh() {
    const { session, running, playing } = this.player;
    const { step, auto, pause } = this.buttons;
    step.disabled = session.done;
    auto.disabled = session.done || running;
    pause.disabled = !running;
    byId("progress").textContent = progress(session);
    document.body.classList.toggle("done", session.done && !playing);
  }

  #step() {
    this.player.pause();
    return this.player.step();
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
function progress({ steps, state, done }) {
  const text = `Step ${steps.length} of ${state?.episode_length ?? "–"}`;
  return done ? `${text}, mean R ${fixed(mean(steps.map(({ reward }) => reward)), 3)}` : text;
}
