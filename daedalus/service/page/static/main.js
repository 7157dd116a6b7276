/** Puts the page together. */

import { api } from "./api.js";
import { Arena } from "./arena.js";
import { Compare } from "./compare.js";
import { DesignerPanel } from "./designer.js";
import { byId } from "./dom.js";
import { fixed } from "./format.js";
import { listenForKeys } from "./keyboard.js";
import { Log } from "./log.js";
import { announce, clearNotice, guarded, notice, problem } from "./notices.js";
import { Player } from "./player.js";
import { Reveal } from "./reveal.js";
import { Rules } from "./rules.js";
import { Scores } from "./scores.js";
import { Session, tabStorage } from "./session.js";
import { Setup } from "./setup.js";
import { Tour } from "./tour.js";
import { showTraining } from "./training.js";
import { Transport } from "./transport.js";

const REBUILT =
  "The server had closed this session, as it does after a while, or another tab had taken it. " +
  "Your episode was rebuilt as it was; just go on.";

async function main() {
  const catalogue = await api.catalogue();
  const page = assemble(catalogue);
  connect(page);
  guarded(showTraining)();
  if (!(await page.session.resume())) await page.begin(page.setup.options);
}

function assemble(catalogue) {
  const page = { session: new Session(tabStorage()), setup: new Setup(catalogue) };
  page.rules = new Rules(catalogue.fields);
  page.scores = new Scores();
  page.log = new Log(page.rules);
  page.designer = new DesignerPanel(catalogue.designers, page.rules);
  page.arena = new Arena((round) => showRound(page, round));
  page.player = new Player(page.session, page.designer, page.arena);
  page.reveal = new Reveal(page.session, page.arena);
  page.begin = (options) => beginEpisode(page, options);
  page.transport = new Transport(page.player, () => page.setup.valid && page.begin(page.setup.options));
  page.compare = new Compare(catalogue.designers, page.session, page.rules);
  page.tour = new Tour(page);
  return page;
}

function connect(page) {
  const { session, player, reveal } = page;
  session.addEventListener("begin", () => showEpisode(page));
  session.addEventListener("rebuilt", () => notice(REBUILT));
  player.addEventListener("played", guarded(({ detail }) => showStep(page, detail)));
  byId("reveal").addEventListener("click", guarded(() => reveal.toggle()));
  const press = (id) => () => byId(id).click();
  listenForKeys({
    " ": press("step"),
    a: () => byId(player.running ? "pause" : "auto").click(),
    r: press("reset"),
    t: press("reveal"),
    d: () => page.designer.hand(!page.designer.active),
  });
}

async function beginEpisode({ session, player, reveal }, options) {
  await player.stop();
  clearNotice();
  await session.begin(options);
  await reveal.reset();
}

function showEpisode({ session, setup, arena, log, rules, scores, transport }) {
  const { state, steps, recent } = session;
  setup.show(session.options);
  arena.seat(state.n_agents);
  log.load(steps);
  const last = steps.at(-1);
  if (last) rules.set(last.mechanism);
  rules.played(last?.mechanism);
  arena.load(last?.rounds ?? []);
  scores.show(last?.scores, last?.revenue);
  scores.label(last ? `step ${steps.length}` : "no step yet");
  scores.trend(recent);
  transport.refresh();
}

function showRound({ session, scores, player }, round) {
  scores.show(round.scores, round.revenue);
  scores.label(`round ${round.number}`);
  if (player.playing) scores.trend(session.recent.filter(({ number }) => number <= round.number));
}

async function showStep({ session, scores, log, rules, reveal }, step) {
  const number = session.steps.length;
  rules.played(step.mechanism);
  log.add(step);
  scores.show(step.scores, step.revenue);
  scores.label(`step ${number}, its last rounds`);
  const end = session.done ? " The episode is over." : "";
  announce(`Step ${number}: R ${fixed(step.reward)}, ${termsInWords(step.scores)}.${end}`);
  if (reveal.on) await reveal.refresh();
}

function termsInWords({ welfare, fairness, participation, stability }) {
  const terms = { welfare, fairness, participation, stability };
  return Object.entries(terms).map(([name, value]) => `${name} ${fixed(value)}`).join(", ");
}

main().catch(problem);
