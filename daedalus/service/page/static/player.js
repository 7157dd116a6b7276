/** Plays steps: asks for the rules, sends them, and shows what came of them. */

/** Events: `played` (detail: the step) after a step was shown, `change` when it starts or stops. */
export class Player extends EventTarget {
  #playing = null;
  #remaining = 0;
  #hasty = false;

  /**
   * @param {import("./session.js").Session} session
   * @param {import("./designer.js").DesignerPanel} designer
   * @param {import("./arena.js").Arena} arena
   */
  constructor(session, designer, arena) {
    super();
    Object.assign(this, { session, designer, arena });
    this.speed = 1;
  }

  /** Whether it goes on by itself. */
  get running() {
    return this.#remaining > 0;
  }

  /** Whether a step is being played or shown. */
  get playing() {
    return this.#playing !== null;
  }

  /** Play one step; one that is still being shown ends at once. */
  async step() {
    while (this.#playing) {
      this.#hurry();
      await this.#playing;
    }
    if (this.session.done) return;
    this.#playing = this.#once();
    this.#changed();
    try {
      await this.#playing;
    } finally {
      this.#playing = null;
      this.#hasty = false;
      this.#changed();
    }
  }

  /** Play several steps, at most to the end of the episode, unless paused. */
  async run(steps = Infinity) {
    this.#remaining = steps;
    try {
      while (this.#remaining > 0 && !this.session.done) {
        this.#remaining -= 1;
        await this.step();
      }
    } finally {
      this.pause();
    }
  }

  /** Stop after the step that is being shown. */
  pause() {
    this.#remaining = 0;
    this.#changed();
  }

  /** Stop at once, and wait until nothing is being shown. */
  async stop() {
    this.pause();
    this.#hurry();
    await this.#playing?.catch(() => {}); // whoever began the step says what went wrong
    this.#hasty = false;
  }

  async #once() {
    const { mechanism, source } = await this.designer.decide(this.session);
    await this.session.step(mechanism, source);
    const step = this.session.steps.at(-1);
    await this.arena.play(step.rounds, () => (this.#hasty ? Infinity : this.speed));
    this.dispatchEvent(new CustomEvent("played", { detail: step }));
  }

  #hurry() {
    this.#hasty = true;
    this.arena.hurry();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
