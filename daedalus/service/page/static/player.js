/** Plays steps: gets a mechanism, sends it, and shows the result. */

/** @import { ArenaView } from "./arena_view.js" */
/** @import { DesignerPanel } from "./designer.js" */
/** @import { Reveal } from "./reveal.js" */
/** @import { Session } from "./session.js" */
/** @import { Twin } from "./second_arena.js" */

/** Events: `played` after a step was shown, and `change` when playing starts or stops. */
export class Player extends EventTarget {
  /** @type {Promise<unknown>|null} */
  #playing = null;
  #remaining = 0;
  #hasty = false;

  /**
   * @param {Session} session
   * @param {DesignerPanel} designer
   * @param {ArenaView} arena
   * @param {Reveal} reveal
   */
  constructor(session, designer, arena, reveal) {
    super();
    this.reveal = reveal;
    /** @type {Twin|null} Plays each step beside this player, under other rules. */
    this.companion = null;
    this.session = session;
    this.designer = designer;
    this.arena = arena;
    this.speed = 1;
  }

  /** Whether more steps will follow by themselves. */
  get running() {
    return this.#remaining > 0;
  }

  /** Whether a step is being played or shown, or an episode begins. */
  get playing() {
    return this.#playing !== null;
  }

  /** Play one step. A step that is still being shown is cut short. */
  async step() {
    await this.#alone(async () => {
      if (!this.session.done) await this.#once();
    });
  }

  /**
   * Stop, and begin an episode in place of what was played; steps wait for it.
   * @template Begun
   * @param {() => Promise<Begun>} begin
   */
  begin(begin) {
    this.pause();
    return this.#alone(begin);
  }

  /**
   * Do what nothing else may go on beside.
   * @template Done
   * @param {() => Promise<Done>} action
   */
  async #alone(action) {
    while (this.#playing) await this.#ended();
    const playing = (this.#playing = action());
    this.#changed();
    try {
      return await playing;
    } finally {
      this.#playing = null;
      this.#hasty = false;
      this.#changed();
    }
  }

  /**
   * Play several steps, until the episode ends or the visitor pauses.
   * @param {number} [steps]
   */
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
    await this.#ended();
  }

  /** Cut short what is being shown, and wait for its end. */
  async #ended() {
    if (!this.#playing) return;
    this.#hurry();
    await this.#playing.catch(() => {}); // who began it says what went wrong
  }

  async #once() {
    const { mechanism, source } = await this.designer.decide(this.session);
    const step = await this.session.step(mechanism, source);
    const told = await this.reveal.told();
    const speed = () => (this.#hasty ? Infinity : this.speed);
    await Promise.all([
      this.arena.play(step.rounds, speed, told),
      this.companion?.play(speed, told !== null),
    ]);
    this.dispatchEvent(new Event("played"));
  }

  #hurry() {
    this.#hasty = true;
    this.arena.hurry();
    this.companion?.arena.hurry();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
