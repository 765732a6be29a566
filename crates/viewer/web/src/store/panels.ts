// The state of each panel in a link; one panel can also pass such a state to another.

import type { FlameView, FlameWeight, GraphStep, Grouping, Level, StoredSort, StoredState, TrendMetric } from "../wire";

export type PanelId =
  | "stored"
  | "trend"
  | "builds"
  | "overview"
  | "selection"
  | "changes"
  | "stats"
  | "frames"
  | "tree"
  | "flame"
  | "histogram"
  | "log"
  | "source"
  | "memory"
  | "sql"
  | "findings"
  | "definitions"
  | "notes";

/** The state of a table in a link. */
export interface TableState {
  filter?: string;
  /** The title of the sort column. */
  column?: string;
  isDown?: boolean;
}

export type StatsList = "spans" | "functions" | "values" | "events" | "threads";

export interface StatsLink {
  list?: StatsList;
  by?: Grouping;
  table?: TableState;
}

export interface FlameLink {
  weight?: FlameWeight;
  view?: FlameView;
  path?: string[];
  /** The middle of a sandwich, if it is not a name of the timeline. */
  name?: string | null;
  threads?: boolean;
  /** The time for the weight `alive`. */
  at?: number | null;
  steps?: GraphStep[];
  /** Whether the traces of the panel Changes are compared. */
  compares?: boolean;
}

export interface TreeLink {
  sort?: "total" | "own" | "count";
}

/** The numbers of the traces that are compared. */
export interface ChangesLink {
  before?: number;
  after?: number;
}

export interface FramesLink {
  /** The number of the series of frames. */
  series?: number;
  /** The budget, in nanoseconds. */
  budget?: number;
}

export interface HistogramLink {
  /** The name of the values that durations are compared with. */
  value?: string;
}

/** The filter for lines. */
export interface LogFilter {
  text: string;
  regex: boolean;
  case: boolean;
  levels: string[];
  /** Only lines of one site: a trace, the id of its definition, and its name for people. */
  site: { trace: number; id: number; name: string } | null;
}

/** Another panel may name a file by its path. */
export interface SourceLink {
  trace?: number | undefined;
  file?: number | undefined;
  path?: string | undefined;
  line?: number | undefined;
  level?: Level | undefined;
  sub?: string | undefined;
  list?: "files" | "subs" | undefined;
}

export type MemoryList = "peak" | "leaks" | "hot" | "often" | "growth" | "lifetimes" | "at" | "of";

export interface MemoryLink {
  trace?: number | undefined;
  list?: MemoryList | undefined;
  at?: number | undefined;
  /** The function of the list `of`. */
  function?: string | undefined;
}

export interface SqlLink {
  text?: string;
  /** Whether to run it at once. */
  run?: boolean;
  /** Whether the result is shown as a chart, and of which column. */
  chart?: boolean;
  value?: string | null;
}

/** The queries whose results are on the timeline. */
export interface QueriedLink {
  tracks: string[];
}

export interface DefinitionsLink {
  kind?: string;
  table?: TableState;
}

/** The filter for the traces of a store. */
export interface StoredFilter {
  text: string;
  /** Values by column. */
  tags: Readonly<Record<string, string>>;
  state: StoredState;
  sort: StoredSort;
  /** The sort column, if it is a tag. */
  column: string;
  isDown: boolean;
  /** The chosen row. */
  at: number;
}

export interface TrendLink {
  name?: string | null;
  metric?: TrendMetric;
  text?: string;
}

export interface BuildsLink {
  baseline?: string;
  candidate?: string;
}

/** The range that the figures of several panels cover. */
export interface RangeLink {
  scope?: "window" | "all";
  /** The selection to ignore, because another range was chosen. */
  except?: string | null;
}

/** By panel, and the range that several share. */
export interface PanelLinks {
  stored: Partial<StoredFilter>;
  trend: TrendLink;
  builds: BuildsLink;
  stats: StatsLink;
  flame: FlameLink;
  changes: ChangesLink;
  frames: FramesLink;
  tree: TreeLink;
  histogram: HistogramLink;
  log: Partial<LogFilter>;
  source: SourceLink;
  memory: MemoryLink;
  sql: SqlLink;
  queried: QueriedLink;
  definitions: DefinitionsLink;
  range: RangeLink;
}
