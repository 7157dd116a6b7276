/** Animations. They can be cut short, and do not move where the visitor asked for less motion. */

const stillness = window.matchMedia("(prefers-reduced-motion: reduce)");

/** Whether the visitor asked for less motion. */
export const isStill = () => stillness.matches;

/**
 * Return the progress of one part of an animation, eased.
 * @param {number} time Progress of the whole, 0 to 1.
 * @param {number} begin When the part begins, 0 to 1.
 * @param {number} length Of the part, as a share of the whole.
 * @returns {number} 0 to 1.
 */
export function part(time, begin, length) {
  const progress = Math.min(1, Math.max(0, (time - begin) / length));
  return 1 - (1 - progress) ** 3;
}

/**
 * Return the point between two numbers.
 * @param {number} from
 * @param {number} to
 * @param {number} share 0 is `from`, 1 is `to`.
 */
export const between = (from, to, share) => from + (to - from) * share;

/** One animation at a time. */
export class Clock {
  /** @type {(() => void)|null} */
  #finish = null;

  /** Whether an animation is running. */
  get running() {
    return this.#finish !== null;
  }

  /**
   * Draw from time 0 to 1. Without motion, draw time 1 alone.
   * @param {number} milliseconds
   * @param {(time: number) => void} draw
   * @returns {Promise<void>} Settles at the end, or when cut short.
   */
  run(milliseconds, draw) {
    this.hurry();
    if (isStill() || milliseconds <= 0) draw(1);
    if (milliseconds <= 0) return Promise.resolve();
    const moving = isStill() ? () => {} : draw;
    return new Promise((resolve) => this.#animate(milliseconds, moving, resolve));
  }

  /** Cut the running animation short: draw its end now. */
  hurry() {
    this.#finish?.();
  }

  /**
   * @param {number} milliseconds
   * @param {(time: number) => void} draw
   * @param {() => void} resolve
   */
  #animate(milliseconds, draw, resolve) {
    const began = performance.now();
    const timer = setTimeout(() => this.hurry(), milliseconds); // frames stop in hidden tabs
    /** @param {number} now */
    const frame = (now) => {
      draw(Math.min(1, Math.max(0, (now - began) / milliseconds)));
      handle = requestAnimationFrame(frame);
    };
    let handle = requestAnimationFrame(frame);
    this.#finish = () => {
      this.#finish = null;
      cancelAnimationFrame(handle);
      clearTimeout(timer);
      draw(1);
      resolve();
    };
  }
}
