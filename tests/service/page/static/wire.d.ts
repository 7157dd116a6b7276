/**
 * What the API takes and answers, as the page uses it.
 *
 * Each interface has the fields of the Python model of the same name in `daedalus/service`;
 * `tests/service/page/test_wire_types.py` compares them. The comments there say what a field means.
 */
declare namespace wire {
  type Value = string | number | boolean;

  /** A value for each field that the catalogue names. */
  type Mechanism = Record<string, Value>;

  /** R and its factors, by name: composite, welfare, fairness, participation, stability. */
  type Scores = Record<string, number>;

  /** What the page asks for when an episode begins; null leaves a choice to the server. */
  interface EpisodeOptions {
    population: string;
    market: string;
    objective: string;
    n_agents: number | null;
    episode_length: number | null;
    seed: number | null;
  }

  /** An episode that has begun. */
  interface DaedalusState {
    episode_id?: string | null;
    step_count: number;
    seed: number;
    population: string;
    market: string;
    objective: string;
    n_agents: number;
    episode_length: number;
    allowed: Record<string, object>;
    brief?: string | null;
    done: boolean;
    mechanism: Mechanism | null;
    rewards: number[];
    scores: Scores;
  }

  interface ResetAnswer {
    session_id: string;
    observation: { round_number: number };
    reward: number | null;
    done: boolean;
    info: object;
  }

  interface StepAnswer {
    observation: { round_number: number };
    reward: number;
    done: boolean;
    info: { scores: Scores; normalised: number | null };
  }

  interface DesignRequest {
    round_number: number;
    episode_length: number;
    market_outcomes: object[];
    population_proxies: object;
    mechanism: Mechanism | null;
    curriculum_stage: number | null;
    designer: string;
    session_id: string | null;
    brief: string | null;
    clauses: GivenClause[] | null;
    prices: boolean;
  }

  interface GivenClause {
    meaning: string;
    amount: number | null;
    sentence: string;
    sure: number;
    doubt: string;
  }

  interface ReadSentence {
    meaning: string;
    amount: number | null;
    sentence: string;
    sure: number;
    doubt: string;
    use: "used" | "unused" | "excluded" | "idle";
    says: string;
    kept: boolean | null;
    price: number | null;
  }

  interface Excluded {
    first: string;
    second: string;
    about: string;
  }

  interface BriefAnswer {
    sentences: ReadSentence[];
    contradictions: Excluded[];
    reward: Record<string, number>;
    allowed: Record<string, object>;
    floors: Record<string, number>;
    population: string | null;
    objective: number | null;
    terms: Record<string, number>;
    notes: string[];
  }

  interface DesignAnswer {
    mechanism: Mechanism;
    source: "ai" | "fallback" | "rule";
    status: DesignerState["status"];
    error: string | null;
    text: string | null;
    note: string | null;
    latency: number;
    brief: BriefAnswer | null;
  }

  interface DesignerState {
    status: "none" | "loading" | "ready" | "failed";
    error: string | null;
    waiting: number;
  }

  interface ArenaRound {
    number: number;
    bids: number[];
    present: boolean[];
    delivered: number[];
    false_bids: number[];
    paid: number[];
    price: number;
    reserve: number;
    revenue: number;
    scores: Scores;
  }

  interface Arena {
    step: number;
    scored: number;
    rounds: ArenaRound[];
  }

  interface Bidder {
    type: string;
    menu: string[];
  }

  interface Reveal {
    bidders: Bidder[];
    false_names: number[][];
    values: number[][];
  }

  /** Losses by format, at each of the reserves; both are empty where there is no certificate. */
  interface Truth {
    reserves: number[];
    regrets: Record<string, number[]>;
  }

  interface ChoiceField {
    name: string;
    kind: "choice";
    choices: string[];
    low: null;
    high: null;
    default: string;
    meaning: string;
  }

  interface FlagField {
    name: string;
    kind: "flag";
    choices: boolean[] | null;
    low: null;
    high: null;
    default: boolean;
    meaning: string;
  }

  interface NumberField {
    name: string;
    kind: "number";
    choices: number[] | null;
    low: number;
    high: number;
    default: number;
    meaning: string;
  }

  type MechanismField = ChoiceField | FlagField | NumberField;

  interface TypeOnOffer {
    name: string;
    share: number;
    menu: string[];
  }

  interface NamedRules {
    name: string;
    mechanism: Mechanism;
  }

  interface AskedBidders {
    model: string;
    recorded: boolean;
    rules: NamedRules[];
  }

  interface PopulationOnOffer {
    name: string;
    stage: number;
    bidders: number;
    units: number;
    ranges: Record<string, number[]>;
    types: TypeOnOffer[];
    markets: string[];
    asked: AskedBidders | null;
  }

  interface Meaning {
    name: string;
    meaning: string;
  }

  interface BriefMeaning {
    name: string;
    meaning: string;
    low: number | null;
    high: number | null;
  }

  interface BriefOffer {
    longest: number;
    meanings: BriefMeaning[];
  }

  interface Start {
    population: string;
    market: string;
    objective: string;
  }

  interface Offer {
    fields: MechanismField[];
    populations: PopulationOnOffer[];
    markets: Meaning[];
    objectives: Meaning[];
    designers: Meaning[];
    default: Start;
    episode_length: number;
    max_episode_length: number;
    upload_bytes: number;
    bid_columns: Record<string, string[]>;
    brief: BriefOffer | null;
  }

  interface TourStop {
    name: string;
    title: string;
    attack: string;
    population: string;
    market: string;
    seed: number;
    n_agents: number | null;
    hurt: Mechanism;
    fixed: Mechanism;
    changed: string[];
    watch: string;
    seen: string;
    shown: number;
    contrast: string;
    compared: number;
    fix: string;
    lesson: string;
  }

  interface Tour {
    stops: TourStop[];
  }

  interface DesignerScore {
    designer: string;
    mean: number;
    low: number;
    high: number;
  }

  interface TrainingCurves {
    run: string | null;
    history: Record<string, number | null>[];
    scores: DesignerScore[];
  }

  interface BidLog {
    csv: string;
    name: string;
    format: "first_price" | "second_price" | "ascending";
    auction: string;
    bid: string;
    bidder: string;
    reserve: string;
    date: string;
    separator: "," | ";" | "\t" | "|" | null;
    decimal: "." | "," | null;
  }

  interface BidReport {
    report: string;
    reserves: string;
  }

  interface FieldProblem {
    field: string;
    value: unknown;
    allowed: string;
  }

  interface Problem {
    error: string;
    detail: FieldProblem[];
  }
}
