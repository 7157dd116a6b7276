/** Puts the page together. */

import { api, ApiError } from "./api.js";
import { Address } from "./address.js";
import { ArenaView } from "./arena_view.js";
import { Asked } from "./asked.js";
import { BidReport } from "./bid_report.js";
import { BriefPanel } from "./brief.js";
import { Compare } from "./compare.js";
import { Controls } from "./controls.js";
import { DesignerPanel } from "./designer.js";
import { byId, el } from "./dom.js";
import { fixed } from "./format.js";
import { listenForKeys } from "./keyboard.js";
import { Log } from "./log.js";
import { announce, clearNotice, guarded, notice, problem } from "./notices.js";
import { Par } from "./other_scores.js";
import { Player } from "./player.js";
import { Reveal } from "./reveal.js";
import { Scores } from "./scores.js";
import { Twin } from "./second_arena.js";
import { Session, tabStorage } from "./session.js";
import { Setup } from "./setup.js";
import { Tour } from "./tour.js";
import { showTraining } from "./training.js";
import { Transport } from "./transport.js";
import { TruthBadge } from "./truth_badge.js";
/** @import { Round, Step } from "./session.js" */

const REBUILT =
  "The server had closed this session, or another tab had used it. The page has rebuilt your " +
  "episode as it was. You can go on.";

const LATER = [0, 429, 503]; // no answer, or no place now

/** @typedef {ReturnType<typeof assemble>} Page */

async function main() {
  const catalogue = await api.catalogue();
  const page = assemble(catalogue);
  connect(page);
  guarded(showTraining)();
  page.transport.start = () => start(page, page.begin);
  await start(page, page.open);
}

/**
 * Go on with this tab's episode, or begin the one of the address or else of the form.
 * @param {Page} page
 * @param {Page["open"]} begin Begins the form's.
 */
async function start({ session, player, address, setup }, begin) {
  clearNotice();
  const resumed = await player.begin(() => session.resume());
  try {
    const opened = await player.begin(() => address.open());
    if (!resumed && !opened) await begin(setup.options);
  } catch (error) {
    const later = error instanceof ApiError && LATER.includes(error.status); // Step tries again
    if (address.linked && !later) await begin(setup.options);
    problem(error); // after the episode has begun, which takes old messages away
  }
}

/** @param {wire.Offer} catalogue */
function assemble(catalogue) {
  const session = new Session(tabStorage());
  const setup = new Setup(catalogue);
  const controls = new Controls(catalogue.fields, tabStorage());
  const scores = new Scores();
  const log = new Log(controls);
  const asked = new Asked(catalogue.populations, session, controls);
  const par = new Par(catalogue.designers, session);
  const designer = new DesignerPanel(catalogue.designers, controls);
  new BriefPanel(catalogue.brief, session, controls, designer);
  const arena = new ArenaView(byId("own-frame"), byId("arena-types"), (round) =>
    showRound(session, scores, player, round),
  );
  const reveal = new Reveal(session, arena);
  const player = new Player(session, designer, arena, reveal);
  const twin = makeTwin(arena, scores);
  /** @type {(options: Partial<wire.EpisodeOptions>, opening?: wire.Mechanism) => Promise<void>} */
  const begin = async (options, opening) => {
    await player.begin(async () => {
      clearNotice();
      await session.begin(options, [], opening);
      await reveal.reset();
    });
  };
  /** @param {Partial<wire.EpisodeOptions>} options */
  const open = (options) => begin(options, asked.opening(options));
  const transport = new Transport(player, setup, begin, open);
  new Compare(catalogue.designers, session, controls);
  new TruthBadge(session, controls);
  new BidReport(catalogue.upload_bytes, catalogue.bid_columns);
  const beginFreely = () => open({ ...catalogue.default, episode_length: catalogue.episode_length });
  new Tour({ session, controls, designer, player, log, reveal, twin, begin, beginFreely });
  return {
    session, setup, controls, scores, log, par, designer, arena, player, reveal, transport, begin, open,
    address: new Address(catalogue.fields, session, controls),
  };
}

/**
 * Return the second arena. Its rounds and its numbers are those that the first one shows.
 * @param {ArenaView} arena
 * @param {Scores} scores
 */
function makeTwin(arena, scores) {
  const frame = byId("twin-frame");
  const second = new ArenaView(frame, el("ul"), ({ scores: terms, revenue }) => scores.beside(terms, revenue));
  arena.buttons.addEventListener("click", ({ target }) => {
    if (!frame.hidden) second.lookAt([...arena.buttons.children].indexOf(/** @type {Element} */ (target)));
  });
  return new Twin(second, ({ scores: terms, revenue }) => scores.beside(terms, revenue));
}

/** @param {Page} page */
function connect(page) {
  const { session, player, reveal, designer, address, controls } = page;
  session.addEventListener("begin", () => showEpisode(page));
  session.addEventListener("begin", () => address.follow());
  player.addEventListener("played", () => address.follow());
  controls.addEventListener("change", () => address.follow());
  session.addEventListener("rebuilt", () => notice(REBUILT));
  player.addEventListener("played", guarded(() => showStep(page)));
  byId("reveal").addEventListener("click", guarded(() => reveal.toggle()));
  /** @param {string} id */
  const press = (id) => () => {
    if (byId(id).checkVisibility()) byId(id).click(); // the tour hides what it does itself
  };
  listenForKeys({
    " ": press("step"),
    a: () => press(player.running ? "pause" : "auto")(),
    r: press("reset"),
    t: press("reveal"),
    d: () => press(designer.active ? "who-you" : "who-designer")(),
  });
}

/** @param {Page} page */
function showEpisode({ session, setup, arena, log, par, controls, scores, designer, transport }) {
  const { steps, recent, incumbent } = session;
  setup.show(session.options);
  arena.seat(session.state?.n_agents ?? 0);
  log.load(steps, incumbent, session.scoreName);
  scores.name(session.scoreName);
  const last = steps.at(-1);
  controls.played(last?.mechanism ?? incumbent);
  arena.load(last?.rounds ?? []);
  scores.show(last?.scores, last?.revenue);
  scores.label(last ? stepInWords(steps.length, last) : "no step yet");
  scores.trend(recent);
  designer.clear();
  par.clear();
  par.follow();
  transport.refresh();
}

/**
 * @param {Session} session
 * @param {Scores} scores
 * @param {Player} player
 * @param {Round} round
 */
function showRound(session, scores, player, round) {
  scores.show(round.scores, round.revenue);
  scores.label(`round ${round.number}`);
  if (player.playing) scores.trend(session.recent.filter(({ number }) => number <= round.number));
}

/** @param {Page} page */
function showStep({ session, scores, log, par, controls }) {
  const number = session.steps.length;
  const step = session.steps[number - 1];
  controls.played(step.mechanism);
  log.add(step);
  par.follow();
  scores.show(step.scores, step.revenue);
  scores.label(stepInWords(number, step));
  const end = session.done ? " The episode has ended." : "";
  const score = `${session.scoreName} ${fixed(step.reward)}`;
  announce(`Step ${number}: ${score}, ${termsInWords(step.scores)}.${end}`);
}

/**
 * Say over what the numbers of a step are means.
 * @param {number} number
 * @param {Step} step
 */
function stepInWords(number, { scored }) {
  return `step ${number}, mean over its last ${scored} rounds`;
}

/** @param {wire.Scores} scores */
function termsInWords({ welfare, fairness, participation, stability }) {
  const terms = { welfare, fairness, participation, stability };
  return Object.entries(terms).map(([name, value]) => `${name} ${fixed(value)}`).join(", ");
}

main().catch(problem);
