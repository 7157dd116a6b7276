/** Keeps the address of the page in step with the episode, and offers it as a link and as files. */

import { asJson, asTable, save } from "./download.js";
import { byId } from "./dom.js";
import { Links } from "./link.js";
import { notice } from "./notices.js";
/** @import { Controls } from "./controls.js" */
/** @import { Session } from "./session.js" */

/** The address bar, and the links beside the log. */
export class Address {
  /**
   * @param {wire.MechanismField[]} fields
   * @param {Session} session
   * @param {Controls} controls
   */
  constructor(fields, session, controls) {
    this.links = new Links(fields);
    this.session = session;
    this.controls = controls;
    this.asked = location.search;
    this.told = false;
    const name = () => `daedalus-${session.options.population}-${session.options.seed}`;
    byId("save-table").addEventListener("click", () =>
      save(`${name()}.csv`, "text/csv", asTable(session.steps)),
    );
    byId("save-json").addEventListener("click", () =>
      save(`${name()}.json`, "application/json", asJson(session)),
    );
  }

  /** Whether the address that was asked for names an episode. */
  get linked() {
    return this.links.read(this.asked) !== null;
  }

  /** Open the episode that the address names. Return false if it names none, or the present one. */
  async open() {
    const linked = this.links.read(this.asked);
    if (!linked || this.#written().search === this.asked) return false;
    await this.session.begin(linked.options, linked.played);
    this.controls.set(linked.rules);
    return true;
  }

  /** Write the episode and the visitor's rules into the address. */
  follow() {
    if (!this.session.state) return;
    const { search, held } = this.#written();
    history.replaceState(null, "", `${search}${location.hash}`);
    byId("link", HTMLAnchorElement).href = search;
    this.#tell(held);
    const empty = !this.session.steps.length;
    for (const id of ["save-table", "save-json"]) byId(id, HTMLButtonElement).disabled = empty;
  }

  /**
   * Say once for each episode that its link holds no more steps.
   * @param {number} held
   */
  #tell(held) {
    const cut = held < this.session.steps.length;
    if (cut && !this.told) notice(`A link can be only so long: that of this episode holds its first ${held} steps.`);
    this.told = cut;
  }

  #written() {
    return this.links.write(this.session, this.controls.own);
  }
}
