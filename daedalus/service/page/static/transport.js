/** Step, Auto, Pause, New episode and speed. */

import { byId } from "./dom.js";
import { fixed, mean } from "./format.js";
import { guarded } from "./notices.js";

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
   * @param {import("./player.js").Player} player
   * @param {() => Promise<void>} begin Begins a new episode.
   */
  constructor(player, begin) {
    this.player = player;
    byId("step").addEventListener("click", guarded(() => this.#step()));
    byId("auto").addEventListener("click", guarded(() => player.run()));
    byId("pause").addEventListener("click", () => player.pause());
    byId("setup").addEventListener("submit", (event) => event.preventDefault());
    byId("setup").addEventListener("submit", guarded(begin));
    byId("speed").addEventListener("input", () => this.#speed());
    player.addEventListener("change", () => this.refresh());
    this.#speed();
  }

  /** Offer what can be done now. */
  refresh() {
    const { session, running, playing } = this.player;
    const { steps, done } = session;
    byId("step").disabled = done;
    byId("auto").disabled = done || running;
    byId("pause").disabled = !running;
    byId("progress").textContent = progress(session);
    document.body.classList.toggle("done", done && !playing);
  }

  #step() {
    this.player.pause();
    return this.player.step();
  }

  #speed() {
    const [speed, name] = SPEEDS[Number(byId("speed").value)];
    this.player.speed = speed;
    byId("speed").setAttribute("aria-valuetext", name);
    byId("speed").style.setProperty("--filled", `${25 * byId("speed").value}%`);
    byId("speed-name").textContent = name;
    if (speed === Infinity) this.player.arena.hurry();
  }
}

function progress({ steps, state, done }) {
  const text = `Step ${steps.length} of ${state?.episode_length ?? "–"}`;
  return done ? `${text}, mean R ${fixed(mean(steps.map(({ reward }) => reward)), 3)}` : text;
}
