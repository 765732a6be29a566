// Queries and answers of the server. Written from the types of `crates/viewer/src/api` by `cargo xtask bless`: do not
// edit.

/** No query. */
export type Nothing = Record<string, never>;

export type Advice = {
  rule: string;
  weight: string;
  /** The name that causes the problem. */
  subject: string;
  cause: string;
  /** The whole finding in one sentence. */
  message: string;
  count: number;
  evidence: Array<Evidence>;
  /** SQL query that shows the affected rows. */
  query: string;
};

/** Advice about all traces. */
export type AdviceAnswer = {
  traces: Array<TraceAdvice>;
};

/** The unit of a figure. */
export type AdviceUnit = "bytes" | "count" | "ns" | "number" | "part" | "times";

/** A site by its index, with its live bytes and allocations. */
export type AliveSite = {
  site: number;
  bytes: number;
  count: number;
};

/** An argument of a row. */
export type Argument = [key: string, idx: number | null, kind: string, value: string | null];
export const Argument = { key: 0, idx: 1, kind: 2, value: 3 } as const;

/** The context of a span. */
export type Around = {
  /** The enclosing spans, outermost first. */
  ancestors: Array<Found>;
  /** Callees by name, most time first. */
  children: Array<ChildRow>;
  /** Number of names that are not listed. */
  more_children: number;
  /** Spans with a flow to this span. */
  flows_in: Array<Found>;
  /** Spans with a flow from this span. */
  flows_out: Array<Found>;
  /** Number of flows that are not listed. */
  more_flows: number;
  same: SameName;
};

/** A bin: durations from an inclusive to an exclusive bound. */
export type Bin = [from_ns: number, to_ns: number, count: number];
export const Bin = { from_ns: 0, to_ns: 1, count: 2 } as const;

/** A name, line or function: the mean of its calls before and after, in nanoseconds, or its bytes. */
export type ChangeRow = [verdict: string, name: string, line: number | null, is_bytes: boolean, before: number | null, after: number | null, change: number | null, noise: number | null, calls_before: number, calls_after: number, share: number];
export const ChangeRow = { verdict: 0, name: 1, line: 2, is_bytes: 3, before: 4, after: 5, change: 6, noise: 7, calls_before: 8, calls_after: 9, share: 10 } as const;

/** The comparison of two traces, or of two builds of a store. */
export type Changes = {
  /** Self time of everything, before and after. */
  self_ns: [number, number];
  /** Names that were compared. */
  all: number;
  rows: Array<ChangeRow>;
};

export type ChangesQuery = {
  before: number;
  after: number;
};

/** Spans of one name directly inside a span, and the position of the longest. */
export type ChildRow = [name: number, count: number, total_ns: number, longest: Found];
export const ChildRow = { name: 0, count: 1, total_ns: 2, longest: 3 } as const;

export type CloseQuery = {
  trace: number;
};

/** Values of one name on one track. */
export type CounterInfo = {
  trace: number;
  track: number | null;
  name: number;
  value_id: string | null;
  /** Number of series that share the counter; usually 1. */
  series: number;
  samples: number;
  is_text: boolean;
  min: number | null;
  max: number | null;
};

/** The span or event with the same ordinal in another trace. */
export type Counterpart = {
  trace: number;
  /** Start in the time of its trace; `None` if there are fewer. */
  ts_ns: number | null;
  /** Number of all of them. */
  count: number;
};

/** The ordinal of a span or event among those of its name and thread, and the corresponding one in every other trace. */
export type Counterparts = {
  /** Counted from 1. */
  number: number;
  traces: Array<Counterpart>;
};

export type CounterpartsQuery = {
  track: number;
  /** Number of the name. */
  name: number;
  /** Start on the axis. */
  ts: number;
  /** Whether it is an event. */
  is_event: boolean;
};

/** A declaration, and the rows that refer to it. */
export type DefinitionRow = [trace: number, kind: string, name: string, file: string | null, line: number | null, color: number | null, status: string | null, args: string | null, used: number, unit: DefinitionUnit | null, id: number | null];
export const DefinitionRow = { trace: 0, kind: 1, name: 2, file: 3, line: 4, color: 5, status: 6, args: 7, used: 8, unit: 9, id: 10 } as const;

/** The rows that refer to a declaration. */
export type DefinitionUnit = "allocations" | "calls" | "events" | "log lines" | "spans" | "statements" | "values";

/** The declarations of all traces. */
export type DefinitionsAnswer = {
  loading: boolean;
  all: number;
  rows: Array<DefinitionRow>;
};

/** The answer to a command: that it is done. */
export type Done = Record<symbol, never>;

/** One of the first errors of a log. */
export type ErrorRow = [ts_ns: number | null, level: string, message: string];
export const ErrorRow = { ts_ns: 0, level: 1, message: 2 } as const;

/** Events of one name. */
export type EventCount = [name: string, count: number];
export const EventCount = { name: 0, count: 1 } as const;

/** An event with its arguments. */
export type EventDetails = {
  name: string;
  name_id: number;
  id: number;
  category: string;
  track: number;
  ts_ns: number;
  name_count: number;
  /** `None` in a brief answer. */
  args: Array<Argument> | null;
};

/** An event; `shared` events have the same place. */
export type EventMark = [track: number, ts_ns: number, name: number, category: number, shared: number, id: number];
export const EventMark = { track: 0, ts_ns: 1, name: 2, category: 3, shared: 4, id: 5 } as const;

export type EventQuery = {
  track: number;
  id: number;
  /** Time on the axis. */
  ts: number;
  brief?: boolean;
};

/** Events of one name. */
export type EventRow = [name: string, category: string, thread: string | null, tid: number | null, count: number];
export const EventRow = { name: 0, category: 1, thread: 2, tid: 3, count: 4 } as const;

export type Evidence = {
  what: string;
  /** Time on the axis. */
  ts_ns: number | null;
  value: number;
  unit: AdviceUnit;
};

/** Everything in a window except the bars, with times on the axis. */
export type Extras = {
  events: Array<EventMark>;
  /** By the number of a counter. */
  counters: Array<[number, Array<Sample>]>;
  /** By the number of a counter of texts. */
  texts: Array<[number, Array<TextLabel>]>;
  /** By the number of a trace that has allocations. */
  memory: Array<[number, Array<Sample>]>;
  logs: Array<LogMark>;
  links: Array<LinkEnds>;
  /** Number of links that are left out. */
  more_links: number;
};

export type FailedTrace = {
  trace: number;
  error: string;
};

/** The cost of calls. */
export type Figures = {
  count: number;
  incl_ns: number;
  excl_ns: number;
  recursive_ns: number;
  depth: number;
};

/** The lines of one file. */
export type FileAnswer = { "kind": "lines" } & LinesFile | { "kind": "places" } & PlacesFile;

export type FileQuery = {
  trace: number;
  file: number;
  level?: Level;
};

export type Finding = {
  code: string;
  severity: string;
  /** Byte offset. */
  position: number | null;
  message: string;
  /** Meaning, from the page of the format. */
  meaning: string | null;
};

/** The findings of all traces, and the traces that cannot be read. */
export type FindingsAnswer = {
  failed: Array<FailedTrace>;
  traces: Array<TraceFindings>;
};

/** The fitted line and law. */
export type Fit = {
  correlation: number;
  slope_ns: number;
  intercept_ns: number;
  complexity: string;
  r2: number | null;
};

export type FlameAnswer = {
  /** The name in the middle of a sandwich. */
  name: string | null;
  path: Array<string>;
  callers: Array<FlameFrame>;
  frames: Array<FlameFrame>;
  names: Array<string>;
  /** The weight of each frame in the compared trace; `None` for boxes of several frames. */
  before: Array<number | null>;
  /** The total weight. */
  total: number;
  /** Whether stacks are estimated from sums of calls. */
  estimate: boolean;
  loading: boolean;
};

/** A box, with its parent and name as numbers. `folded` is the number of boxes that it represents; 0 for a real one. */
export type FlameFrame = [parent: number, name: number | null, total: number, own: number, count: number, folded: number];
export const FlameFrame = { parent: 0, name: 1, total: 2, own: 3, count: 4, folded: 5 } as const;

/** Sent as a body, because a path may have as many names as the stack is deep. */
export type FlameQuery = {
  weight?: FlameWeight | null;
  view?: FlameView | null;
  by_thread?: boolean | null;
  /** The time on the axis for the weight `alive`. */
  at?: number | null;
  /** Steps that change the stacks, applied in order. */
  steps?: Array<GraphStep> | null;
  /** The names on the path to the box that fills the view. */
  path?: Array<string> | null;
  /** The name in the middle of a sandwich (default: the one with the most self weight). */
  name?: string | null;
  /** Shows the second trace, with the weights of its boxes in the first trace. */
  compare?: [number, number] | null;
  /** Only rows that start at this time or later. */
  from?: number;
  /** Only rows that start before this time. */
  to?: number;
  /** Numbers of tracks, separated by commas. */
  tracks?: string;
};

/** From the outermost spans, from the innermost ones, or around one name. */
export type FlameView = "bottom" | "sandwich" | "top";

/** The meaning of the width of a box. */
export type FlameWeight = "alive" | "bytes" | "count" | "leaked" | "peak" | "self" | "temporary" | "time";

/** The position of a span or event. */
export type Found = {
  track: number;
  /** Kind of lane, as in `picture`, or [`EVENT`] for an event, whose `index` is its id. */
  kind: number;
  depth: number;
  index: number;
  name: number;
  /** Start on the axis. */
  ts_ns: number;
  /** `None` for an event and for a span that was never closed. */
  dur_ns: number | null;
};

/** One frame: its number, and its position on the axis. */
export type FrameBar = [number: number, ts_ns: number, dur_ns: number];
export const FrameBar = { number: 0, ts_ns: 1, dur_ns: 2 } as const;

/** Spans of one name on one track. */
export type FrameSeries = [track: number, name: number, count: number];
export const FrameSeries = { track: 0, name: 1, count: 2 } as const;

/** The frames of one series. */
export type Frames = {
  /** Spans that may be frames, most likely first. */
  series: Array<FrameSeries>;
  /** The selected series. */
  chosen: number;
  mean_ns: number;
  p50_ns: number;
  p95_ns: number;
  p99_ns: number;
  max_ns: number;
  /** Frames sorted by start; the longest of each group if there are too many. */
  frames: Array<FrameBar>;
  /** Max number of frames per bar. */
  group: number;
  /** The slowest frames, longest first. */
  worst: Array<WorstFrame>;
};

export type FramesQuery = {
  /** The series, by its number in the previous answer (default: the first one). */
  series?: number;
};

/** A function with the totals of the profiler. */
export type FunctionRow = [name: string, calls: number, total_ns: number, self_ns: number, mean_ns: number, share: number];
export const FunctionRow = { name: 0, calls: 1, total_ns: 2, self_ns: 3, mean_ns: 4, share: 5 } as const;

/** A change to all stacks of a graph. */
export type GraphStep = { "kind": "collapse", "name": string } | { "kind": "drop", "name": string } | { "kind": "focus", "name": string } | { "kind": "merge", "name": string };

/** Grouping key in addition to the name. */
export type Grouping = "category" | "file" | "name" | "thread";

/** How much a figure stands out. */
export type Heat = "cold" | "hot" | "mild" | "warm";

/** Figures of the durations of a name, and their distribution. */
export type Histogram = {
  calls: number;
  total_ns: number;
  min_ns: number;
  mean_ns: number;
  p50_ns: number | null;
  p95_ns: number | null;
  p99_ns: number | null;
  max_ns: number;
  exact: boolean;
  logarithmic: boolean;
  bins: Array<Bin>;
  /** The bins per trace, if several traces have the name. */
  traces: Array<TraceBins>;
  name: string;
  /** The kind of the lanes of the spans. */
  kind: number;
  unclosed: number;
  loading: boolean;
};

export type HistogramQuery = {
  /** Number of a name. */
  name: number;
  bins?: number;
};

export type HitsQuery = {
  from: number;
  to: number;
  px: number;
};

/** Memory of one site that was never freed. */
export type LeakRow = [place: string, count: number, bytes: number];
export const LeakRow = { place: 0, count: 1, bytes: 2 } as const;

/** How statements are added up. */
export type Level = "block" | "line" | "sub";

/** Log lines of one level, and the number and text of the first. */
export type LevelLines = [level: string, count: number, first: number, text: string];
export const LevelLines = { level: 0, count: 1, first: 2, text: 3 } as const;

/** A level, with its number of lines that match the text and of all lines. */
export type LevelRow = [name: string, with_text: number, all: number];
export const LevelRow = { name: 0, with_text: 1, all: 2 } as const;

/** Log lines of one level. */
export type LevelUse = [level: string, lines: number];
export const LevelUse = { level: 0, lines: 1 } as const;

/** A sub that a line calls. */
export type LineCallee = [name: string, count: number, incl_ns: number];
export const LineCallee = { name: 0, count: 1, incl_ns: 2 } as const;

/** The subs that a line calls, most time first. */
export type LineCalls = [line: number, all: number, named: Array<LineCallee>];
export const LineCalls = { line: 0, all: 1, named: 2 } as const;

/** The string evals that a line makes. */
export type LineEvals = [line: number, count: number, different: number, time_ns: number];
export const LineEvals = { line: 0, count: 1, different: 2, time_ns: 3 } as const;

export type LineQuery = {
  number: number;
};

/** The lines of a file, with the cost and callees of each. */
export type LinesFile = {
  name: string;
  level: Level;
  count: number;
  time_ns: number;
  /** The time of the most expensive line. */
  most_ns: number;
  parent: [number, number] | null;
  merged: number;
  has_text: boolean;
  all_lines: number;
  lines: Array<SourceLine>;
  subs: Array<[number | null, string, Figures]>;
  calls: Array<LineCalls>;
  evals: Array<LineEvals>;
};

export type LinesFileRow = {
  id: number;
  name: string;
  count: number;
  time_ns: number;
  has_text: boolean;
  evals: number;
  /** Number of evals that were merged into this one. */
  merged: number;
  /** For an eval: the file and line that called it. */
  parent: [number, number] | null;
};

/** Files, most time first, and called subs, most self time first. */
export type LinesOfTrace = {
  trace: number;
  application: string | null;
  has_blocks: boolean;
  time_ns: number;
  all_files: number;
  files: Array<LinesFileRow>;
  all_subs: number;
  subs: Array<SubRow>;
};

/** Both ends of an arrow. */
export type LinkEnds = [from_track: number, from_depth: number, from_ns: number, to_track: number, to_depth: number, to_ns: number];
export const LinkEnds = { from_track: 0, from_depth: 1, from_ns: 2, to_track: 3, to_depth: 4, to_ns: 5 } as const;

/** The first rows of a list, and the number of all rows. */
export type Listed<T> = {
  all: number;
  rows: Array<T>;
};

/** A live trace. */
export type LiveInfo = {
  /** Number of dropped records. */
  dropped: number;
  /** The reason why no more data arrives. */
  end: string | null;
};

/** A range of the log, or why the text is not a valid regular expression. */
export type LogAnswer = { problem: string, } | LogRange;

/** A line with its format and its arguments, as soon as the tables can be read. */
export type LogDetails = {
  number: number;
  ts_ns: number | null;
  level: string;
  file: string | null;
  line: number | null;
  text: string;
  trace: number;
  format: string | null;
  thread_id: number | null;
  args: Array<Argument> | null;
};

/** Lines in one pixel that match a filter, by the first of them. */
export type LogHit = [trace: number, ts_ns: number, count: number];
export const LogHit = { trace: 0, ts_ns: 1, count: 2 } as const;

/** One line of the log. */
export type LogLine = {
  ts_ns: number | null;
  level: string;
  file: string | null;
  line: number | null;
  text: string;
};

/** Log lines of one level in one pixel, and the number of the first. */
export type LogMark = [trace: number, ts_ns: number, level: number, count: number, number: number];
export const LogMark = { trace: 0, ts_ns: 1, level: 2, count: 3, number: 4 } as const;

export type LogQuery = {
  /** Number of lines to skip. */
  skip?: number;
  /** Number of lines to return. */
  take?: number;
  /** Only lines of these levels, separated by commas. */
  levels?: string;
  /** Only lines of this site: the number of a trace, a colon, and the id of a definition. */
  site?: string;
  /** Only lines with this text. */
  text?: string;
  /** Whether the text is a regular expression. */
  regex?: boolean;
  /** Whether uppercase letters differ from lowercase ones. */
  case?: boolean;
  /** A time for which to find the nearest line. */
  at?: number;
};

export type LogRange = {
  /** Number of lines that match the filter. */
  total: number;
  all: number;
  /** The line nearest to the time. */
  at: number | null;
  levels: Array<LevelRow>;
  lines: Array<LogRow | null>;
};

/** A line of the log. */
export type LogRow = [number: number, ts_ns: number | null, level: string, file: string | null, line: number | null, text: string, trace: number];
export const LogRow = { number: 0, ts_ns: 1, level: 2, file: 3, line: 4, text: 5, trace: 6 } as const;

/** The longest spans of a name, longest first, and the number of all spans. */
export type Longest = {
  all: number;
  places: Array<Found>;
};

export type LongestQuery = {
  /** Number of a name. */
  name: number;
  /** Only spans of this kind of lanes. */
  kind?: number;
  /** Minimum duration, inclusive. */
  least?: number;
  /** Maximum duration, exclusive. */
  below?: number;
  /** Number of spans to return. */
  take?: number;
};

/** The report on one trace, with times on the axis, and lists of its sites by number. */
export type MemoryAnswer = {
  /** Sites with memory that was never freed, most bytes first. */
  leaks: Array<number>;
  all_leaks: number;
  /** Sites sorted by bytes. */
  hot: Array<number>;
  /** Sites sorted by number of allocations. */
  often: Array<number>;
  /** Sites with the function in their stack, most bytes first. */
  of: Array<number>;
  all_of: number;
  churn_bytes_per_second: number;
  is_growth_only: boolean;
  is_coarse: boolean;
  peak: MemoryMoment;
  at: MemoryMoment | null;
  /** Times, with the bytes in use at each time and the maximum until the next one. */
  curve: Array<[number, number, number]>;
  all_sites: number;
  sites: Array<MemorySite>;
  lifetimes: Array<MemoryLifetimes>;
  /** Number of allocations. */
  allocations: number;
  /** Bytes of all allocations. */
  allocated_bytes: number;
  /** Frees, matched or not. */
  frees: number;
  /** Bytes freed. */
  freed_bytes: number;
  /** Number of allocations that were never freed. */
  live: number;
  /** Bytes that were never freed. */
  live_bytes: number;
  /** Number of addresses that were allocated again without a free. */
  reused: number;
  /** Frees of blocks that were already freed. */
  double_frees: number;
  /** Frees of blocks whose allocation is not in the trace. */
  unknown_frees: number;
  /** Number of allocations that the next event freed. */
  temporary: number;
  /** Number of garbage collections. */
  collections: number;
  /** First timestamp. */
  first_ns: number;
  /** Last timestamp. */
  last_ns: number;
};

/** Serialized lifetimes; the longest have no bound. */
export type MemoryLifetimes = {
  below_ns: number | null;
  count: number;
  bytes: number;
};

/** A serialized moment. */
export type MemoryMoment = {
  ts_ns: number;
  bytes: number;
  count: number;
  all_sites: number;
  sites: Array<AliveSite>;
};

export type MemoryQuery = {
  trace: number;
  /** A time on the axis for which to list the live memory. */
  at?: number;
  /** A function for which to list the sites that have it in their stack. */
  function?: string;
  /** Number of points of the curve. */
  points?: number;
};

/** A serialized site. */
export type MemorySite = {
  number: number;
  /** Frames, innermost first. */
  stack: Array<SiteFrame>;
  /** Number of outer frames that are left out. */
  more_frames: number;
  count: number;
  bytes: number;
  live: number;
  live_bytes: number;
  oldest_live_ns: number | null;
  freed: number;
  lifetime_ns: number;
  temporary: number;
  quarters: [number, number, number, number];
};

/** Allocations and frees. */
export type MemorySums = {
  allocations: number;
  allocated_bytes: number;
  frees: number;
  freed_bytes: number;
};

/** One value per pixel of the whole axis. */
export type Minimap = {
  /** Number of threads inside a span. */
  busy: Array<number>;
  /** Number of log lines and events. */
  points: Array<number>;
  /** Number of errors among them. */
  errors: Array<number>;
  /** Bytes in use by all traces. */
  memory: Array<number>;
};

export type MinimapQuery = {
  px: number;
};

/** A name, and the color set by its producer, as 0xAARRGGBB. */
export type NameRow = [name: string, color: number | null];
export const NameRow = { name: 0, color: 1 } as const;

export type NameTrend = {
  name: string;
  points: Array<TrendPoint>;
  changes: Array<TrendChange>;
};

export type NamesQuery = {
  /** The first name that the page does not know yet. */
  from?: number;
};

export type NextQuery = {
  /** Number of a name. */
  name?: number;
  /** A text that names contain, instead of a number. */
  q?: string;
  /** Spans and events that start after this time, or before it. */
  ts: number;
  back?: boolean;
};

/** A note on a time or a range of a trace. */
export type Note = {
  /** Timestamp in the trace. */
  ts_ns: number;
  /** Duration; `None` for a point in time. */
  dur_ns: number | null;
  /** Name of the span that the note is about. */
  name: string | null;
  /** Text of the note. */
  text: string;
};

/** The notes on every trace that is a local file. */
export type NotesAnswer = {
  traces: Array<TraceNotes>;
};

/** All notes on a trace, which replace the existing ones. */
export type NotesQuery = {
  trace: number;
  notes: Array<Note>;
};

export type OffsetQuery = {
  trace: number;
  offset_ns: number;
};

export type OpenQuery = {
  name: string;
};

/** The trace to open. */
export type OpenStoredQuery = {
  trace: string;
};

/** The summaries of all loaded traces. */
export type Overview = {
  traces: Array<TraceOverview>;
};

export type PlaceQuery = {
  /** Start on the axis. */
  ts: number;
  /** Other known properties from the row. */
  trace_id?: string;
  thread_id?: number;
  id?: number;
  name?: string;
  dur?: number;
};

/** The rows of one kind and name from one line. */
export type PlaceRow = [line: number | null, kind: RowKind, name: string, count: number, total_ns: number, self_ns: number, bytes: number];
export const PlaceRow = { line: 0, kind: 1, name: 2, count: 3, total_ns: 4, self_ns: 5, bytes: 6 } as const;

/** The lines of a file that occur in rows. */
export type PlacesFile = {
  name: string;
  count: number;
  time_ns: number;
  bytes: number;
  all_lines: number;
  lines: Array<PlaceRow>;
};

export type PlacesFileRow = {
  id: number;
  name: string;
  count: number;
  time_ns: number;
  bytes: number;
};

/** Files with the places that occur in rows. */
export type PlacesOfTrace = {
  trace: number;
  all_files: number;
  files: Array<PlacesFileRow>;
  time_ns: number;
  /** Number of rows without a place. */
  others: number;
};

/** Problems of one kind in the file, and the message of the first. */
export type ProblemRow = [severity: string, message: string, count: number];
export const ProblemRow = { severity: 0, message: 1, count: 2 } as const;

/** Progress of loading. */
export type Progress = {
  revision: number;
  read_bytes: number;
  total_bytes: number;
};

/** A range of the axis and some tracks; everything if both are omitted. */
export type RangeQuery = {
  /** Only rows that start at this time or later. */
  from?: number;
  /** Only rows that start before this time. */
  to?: number;
  /** Numbers of tracks, separated by commas. */
  tracks?: string;
};

/** Why a query was refused. */
export type Refused = {
  error: string;
};

/** Two builds to compare. */
export type RegressionsQuery = {
  baseline: string;
  candidate: string;
};

/** The correlation of the durations of a name with a value that was recorded inside its spans. */
export type Relation = {
  pairs: number;
  left_out: number;
  points: Array<RelationPoint>;
  fit: Fit | null;
};

/** A value and its enclosing span. */
export type RelationPoint = [value: number, dur_ns: number, ts_ns: number];
export const RelationPoint = { value: 0, dur_ns: 1, ts_ns: 2 } as const;

export type RelationQuery = {
  /** Number of the name of the spans. */
  name: number;
  /** Number of the name of the values. */
  value: number;
};

export type RowKind = "allocation" | "log" | "span";

/** Durations of all spans of a name. */
export type SameName = {
  count: number;
  min_ns: number;
  p50_ns: number;
  p95_ns: number;
  max_ns: number;
  /** Number of longer spans. */
  longer: number;
};

/** The values of one pixel. */
export type Sample = [ts_ns: number, min: number, max: number, last: number];
export const Sample = { ts_ns: 0, min: 1, max: 2, last: 3 } as const;

/** Tables, views and functions for queries, and example queries. */
export type Schema = {
  tables: Array<SchemaTable>;
  views: Array<SchemaView>;
  functions: Array<string>;
  examples: Array<SqlExample>;
};

/** A column, and the table that it refers to. */
export type SchemaColumn = [name: string, label: string, about: string, is_nullable: boolean, target: string | null];
export const SchemaColumn = { name: 0, label: 1, about: 2, is_nullable: 3, target: 4 } as const;

export type SchemaTable = {
  name: string;
  about: string;
  columns: Array<SchemaColumn>;
};

export type SchemaView = {
  name: string;
  columns: Array<string>;
};

/** The names that contain a text, and the number of their spans and events. */
export type SearchAnswer = {
  spans: number;
  events: number;
  names: number;
  rows: Array<SearchRow>;
};

export type SearchQuery = {
  q: string;
};

/** A name with its spans and events. */
export type SearchRow = [id: number, name: string, spans: number, total_ns: number, events: number];
export const SearchRow = { id: 0, name: 1, spans: 2, total_ns: 3, events: 4 } as const;

/** One frame of a stack. */
export type SiteFrame = {
  /** The function. */
  function: string;
  /** Source file. */
  file: string | null;
  /** Source line. */
  line: number | null;
};

/** A slow span with its cause, or one of the longest frames. */
export type SlowRow = [name: string, ts_ns: number, dur_ns: number, median_ns: number, is_slow: boolean, cause: string];
export const SlowRow = { name: 0, ts_ns: 1, dur_ns: 2, median_ns: 3, is_slow: 4, cause: 5 } as const;

/** The files of all traces with their totals, most time first. */
export type SourceAnswer = {
  traces: Array<SourceOfTrace>;
};

/** A line with its statements, the calls that it makes, and its text. */
export type SourceLine = [line: number, statements: number | null, time_ns: number | null, heat: Heat | null, calls: number | null, in_subs_ns: number | null, subs_heat: Heat | null, text: string | null];
export const SourceLine = { line: 0, statements: 1, time_ns: 2, heat: 3, calls: 4, in_subs_ns: 5, subs_heat: 6, text: 7 } as const;

/** The files of one trace. */
export type SourceOfTrace = { "kind": "lines" } & LinesOfTrace | { "kind": "places" } & PlacesOfTrace;

/** A span with its row, its arguments, and how it compares with others of its name. */
export type SpanDetails = {
  name: string;
  name_id: number;
  id: number;
  trace: number;
  track: number;
  depth: number;
  ts_ns: number;
  dur_ns: number | null;
  self_ns: number | null;
  name_count: number;
  name_total_ns: number;
  category: string | null;
  file: string | null;
  line: number | null;
  /** The line that called it, as `file:line`. */
  caller: string | null;
  /** `None` in a brief answer. */
  args: Array<Argument> | null;
};

export type SpanQuery = {
  track: number;
  kind: number;
  depth: number;
  index: number;
  /** Whether only data that is available at once is requested, because the pointer may move away soon. */
  brief?: boolean;
};

/** Spans of one name, or of one group. */
export type SpanRow = [name: string, thread: string | null, tid: number | null, file: string | null, category: string | null, calls: number, unclosed: number, total_ns: number, self_ns: number, min_ns: number, mean_ns: number, p50_ns: number | null, p95_ns: number | null, p99_ns: number | null, max_ns: number, share: number | null, is_exact: boolean];
export const SpanRow = { name: 0, thread: 1, tid: 2, file: 3, category: 4, calls: 5, unclosed: 6, total_ns: 7, self_ns: 8, min_ns: 9, mean_ns: 10, p50_ns: 11, p95_ns: 12, p99_ns: 13, max_ns: 14, share: 15, is_exact: 16 } as const;

/** Rows, or the error in the query. */
export type SqlAnswer = { problem: SqlProblem, } | SqlRows;

/** A column of a result. */
export type SqlColumn = [name: string, is_number: boolean];
export const SqlColumn = { name: 0, is_number: 1 } as const;

/** An example query. */
export type SqlExample = [title: string, sql: string];
export const SqlExample = { title: 0, sql: 1 } as const;

/** The position of an error, counted from 1. */
export type SqlPlace = [line: number, column: number, end_column: number];
export const SqlPlace = { line: 0, column: 1, end_column: 2 } as const;

/** An error in a query. */
export type SqlProblem = {
  message: string;
  place: SqlPlace | null;
  help: Array<string>;
};

export type SqlQuery = {
  sql: string;
};

export type SqlRows = {
  columns: Array<SqlColumn>;
  rows: Array<Array<string | null>>;
  /** Whether there are more rows. */
  is_cut: boolean;
  /** Whether another query stopped this one. */
  is_stopped: boolean;
  elapsed_ms: number;
};

/** The whole state. */
export type State = {
  /** The first and last time of the axis; `None` if no trace has times. */
  from_ns: number | null;
  to_ns: number | null;
  traces: Array<TraceInfo>;
  tracks: Array<TrackInfo>;
  counters: Array<CounterInfo>;
  names: number;
  logs: number;
  links: number;
  /** Whether SQL queries are supported. */
  sql: boolean;
  revision: number;
  read_bytes: number;
  total_bytes: number;
};

/** The whole state, or only the progress of loading if the page knows the rest. */
export type StateAnswer = Progress | State;

export type StateQuery = {
  /** The revision that the page already has. */
  since?: number;
};

export type Stats = {
  /** Whether traces are still loading, which are not included. */
  loading: boolean;
  /** Self time of all spans. */
  self_ns: number;
  /** Number of spans that are counted together because there are too many groups. */
  merged: number;
  unclosed: number;
  spans: Listed<SpanRow>;
  functions: Listed<FunctionRow>;
  values: Listed<ValueRow>;
  events: Listed<EventRow>;
  threads: Array<ThreadRow>;
};

export type StatsQuery = {
  by?: Grouping;
};

/** The contents of a store. */
export type StoreAbout = {
  path: string;
  /** Whether it is a fleet store, which has trends. */
  has_trends: boolean;
  /** Traces and files in quarantine. */
  all: number;
  quarantined: number;
  /** Number of traces that can be listed; fewer than all in a very large store. */
  listed: number;
  /** The columns with tags, and `format`. */
  tags: Array<StoreTag>;
};

/** A column with tags. */
export type StoreTag = {
  column: string;
  /** Number of values; only the newest are listed. */
  all: number;
  values: Array<TagValue>;
};

/** Details of a trace. */
export type StoredDetails = {
  row: StoredRow;
  /** Number of problems of the trace. */
  all_findings: number;
  /** The first problems. */
  findings: Array<StoredFinding>;
  /** The file from which it is opened; its content is checked when it is opened. */
  source: string | null;
  /** Why it cannot be opened. */
  refusal: string | null;
};

/** A problem of a trace. */
export type StoredFinding = [severity: string, code: string, message: string];
export const StoredFinding = { severity: 0, code: 1, message: 2 } as const;

/** A name, the time of its spans in all traces, and its largest change. */
export type StoredName = [name: string, calls: number, total_ns: number, change: number | null];
export const StoredName = { name: 0, calls: 1, total_ns: 2, change: 3 } as const;

/** A range of the names. */
export type StoredNames = {
  /** Number of matching names. */
  total: number;
  /** Number of names that changed. */
  changed: number;
  rows: Array<StoredName>;
};

/** Names of the store, changed ones first. */
export type StoredNamesQuery = {
  metric: TrendMetric;
  /** Words that all must occur in the name. */
  text: string;
  skip: number;
  take: number;
};

/** One trace, by its id. */
export type StoredQuery = {
  /** As text, because it does not fit into a JavaScript number. */
  id: string;
};

/** A trace of a store; a file in quarantine has a finding instead of contents. */
export type StoredRow = [id: string, path: string, tags: Array<string>, start_unix_ns: string | null, duration_ns: number | null, spans: number, lines: number, allocations: number, bytes: number, errors: number, warnings: number, finding: string | null];
export const StoredRow = { id: 0, path: 1, tags: 2, start_unix_ns: 3, duration_ns: 4, spans: 5, lines: 6, allocations: 7, bytes: 8, errors: 9, warnings: 10, finding: 11 } as const;

export type StoredSort = "bytes" | "duration" | "entries" | "path" | "problems" | "start" | "tag";

export type StoredState = "all" | "damaged" | "fine" | "quarantined";

/** A range of the list. */
export type StoredTraces = {
  /** Number of matching traces. */
  total: number;
  /** The requested rows. */
  rows: Array<StoredRow>;
};

export type SubCallee = {
  name: string;
  figures: Figures;
};

export type SubCaller = {
  by: string | null;
  file: number | null;
  /** Number of the file. */
  name: string | null;
  line: number | null;
  figures: Figures;
};

/** A sub with its callers and callees, most time first. */
export type SubDetails = {
  file_name: string | null;
  all_callers: number;
  callers: Array<SubCaller>;
  all_callees: number;
  callees: Array<SubCallee>;
  name: string;
  file: number | null;
  line: number | null;
  last_line: number | null;
  kind: string;
  merged: number;
  /** Number of call sites. */
  places: number;
  figures: Figures;
};

export type SubQuery = {
  trace: number;
  name: string;
};

export type SubRow = {
  name: string;
  file: number | null;
  line: number | null;
  last_line: number | null;
  kind: string;
  merged: number;
  /** Number of call sites. */
  places: number;
  figures: Figures;
};

/** A time range in which a thread did not run, and the thread that ran instead. */
export type SwitchDetails = {
  name: string;
  name_id: number;
  ts_ns: number;
  dur_ns: number;
  target_tid: number | null;
};

export type SwitchQuery = {
  track: number;
  index: number;
};

/** A value of a tag, and the number of its traces. */
export type TagValue = [value: string, traces: number];
export const TagValue = { value: 0, traces: 1 } as const;

/** A value that is a text; `shared` texts start at the same place. */
export type TextLabel = [ts_ns: number, text: string, shared: number, number: number];
export const TextLabel = { ts_ns: 0, text: 1, shared: 2, number: 3 } as const;

export type TextQuery = {
  counter: number;
  number: number;
};

/** A value that is a text, and when it was set. */
export type TextValue = {
  ts_ns: number;
  text: string;
};

/** A thread and its trace. */
export type ThreadRow = [name: string, tid: number | null, trace: number | null, spans: number, busy_ns: number, switches: number, off_cpu_ns: number];
export const ThreadRow = { name: 0, tid: 1, trace: 2, spans: 3, busy_ns: 4, switches: 5, off_cpu_ns: 6 } as const;

/** A name with its self time. */
export type TopName = [name: string, calls: number, self_ns: number, share: number];
export const TopName = { name: 0, calls: 1, self_ns: 2, share: 3 } as const;

/** The sums of `traceloom stats` for a range and some tracks. */
export type Totals = {
  /** Number of closed spans. */
  spans: number;
  /** Number of spans that were never closed. */
  unclosed: number;
  /** The total time of all spans. */
  total_ns: number;
  /** Time inside spans; each moment of a thread counts once. */
  busy_ns: number;
  names: number;
  events: number;
  threads: number;
  /** Number of context switches, and their total time. */
  switches: number;
  off_cpu_ns: number;
  /** Events by name, most frequent first. */
  event_names: Array<EventCount>;
  values: Array<ValueSums>;
  memory: MemorySums | null;
  /** Log lines of all traces by level; lines do not belong to a track. */
  logs: Array<LevelLines>;
};

/** Advice about one trace, most important first. */
export type TraceAdvice = {
  trace: number;
  advice: Array<Advice>;
};

/** The number of durations of one trace in each bin. */
export type TraceBins = {
  trace: number;
  calls: number;
  counts: Array<number>;
};

/** The findings of one trace; only some have a row, but all are counted by code. */
export type TraceFindings = {
  trace: number;
  rows: Array<Finding>;
  counts: { [key in string]: number };
};

/** One trace. */
export type TraceInfo = {
  path: string;
  format: string;
  version: string;
  /** As text, because it does not fit into a JavaScript number. */
  trace_id: string;
  bytes: number;
  clock: string;
  /** As text as well. */
  unix_origin_ns: string | null;
  /** Without the offset. */
  from_ns: number;
  to_ns: number;
  /** Added to every time of the trace on the axis. */
  offset_ns: number;
  findings: number;
  /** Number of log lines with a time. */
  logs: number;
  /** Peak bytes in use; `None` if the trace has no allocations. */
  memory: number | null;
  /** Whether the trace has sums of calls. */
  has_calls: boolean;
  /** Whether the trace has line timings. */
  has_lines: boolean;
  /** Whether rows refer to source files. */
  has_source: boolean;
  state: TraceState;
  error: string | null;
  /** Only for a live trace. */
  live: LiveInfo | null;
};

/** The notes on one trace, in the time of the trace, or why they cannot be read. */
export type TraceNotes = {
  trace: number;
  notes: Array<Note>;
  error: string | null;
};

/** The summary of one trace, with times on the axis. */
export type TraceOverview = {
  trace: number;
  /** `fine`, `damaged` or `data missing`. */
  badge: string;
  problems: Array<ProblemRow>;
  /** The main finding in one sentence. */
  verdict: string;
  findings: Array<Advice>;
  names: Array<TopName>;
  all_names: number;
  slow: Array<SlowRow>;
  leaks: Array<LeakRow>;
  levels: Array<LevelUse>;
  errors: Array<ErrorRow>;
};

export type TraceState = "closed" | "failed" | "live" | "loading" | "ready";

/** Filter and order of the list of traces. */
export type TracesQuery = {
  /** Words that all must occur in the path, a tag, the format or the finding. */
  text: string;
  /** Allowed values by column. */
  tags: { [key in string]: Array<string> };
  state: StoredState;
  sort: StoredSort;
  /** The sort column, if it is a tag. */
  column: string;
  is_down: boolean;
  skip: number;
  take: number;
};

/** A thread or a zone. */
export type TrackInfo = {
  trace: number;
  thread_id: number;
  /** Number of threads that share the track; usually 1. */
  threads: number;
  tid: number | null;
  process: string;
  name: string;
  kind: string;
  spans: number;
  /** Start of its first span, without the offset of the trace. */
  first_ns: number | null;
  /** Time inside its outermost spans. */
  busy_ns: number;
  events: number;
  /** Number of events that are drawn as such. */
  instants: number;
  /** Number of bookmarks. */
  bookmarks: number;
  switches: number;
  depth: number;
  frame_depth: number;
  range_depth: number;
};

/** The times of a name from day to day and from build to build, as `traceloom trend --json` prints them. */
export type Trend = {
  points: Array<TrendPlace>;
  looked_at: number;
  names: Array<NameTrend>;
};

/** A lasting change. */
export type TrendChange = {
  at: TrendPlace;
  before_ns: number;
  after_ns: number;
  /** As a share of the value before. */
  change: number;
  noise: number;
  /** The probability that the change is due to chance. */
  p: number;
};

/** The figure of each trace that is checked for changes. */
export type TrendMetric = "mean" | "p50" | "p95" | "p99";

/** A day and a build. */
export type TrendPlace = {
  day: string;
  build: string;
};

/** A name on one day in one build. */
export type TrendPoint = {
  day: string;
  build: string;
  traces: number;
  calls: number;
  p50_ns: number | null;
  p95_ns: number | null;
  p99_ns: number | null;
  /** Mean of the figures of the traces. */
  value_ns: number;
  /** Half the width of the 95 % confidence interval of the mean. */
  noise_ns: number | null;
};

/** The history of a name. */
export type TrendQuery = {
  name: string;
  metric: TrendMetric;
};

/** Values of one name. */
export type ValueRow = [name: string, count: number, min: number | null, mean: number | null, p50: number | null, p95: number | null, p99: number | null, max: number | null, first: number | null, last: number | null, is_exact: boolean];
export const ValueRow = { name: 0, count: 1, min: 2, mean: 3, p50: 4, p95: 5, p99: 6, max: 7, first: 8, last: 9, is_exact: 10 } as const;

/** Values of one name. */
export type ValueSums = [name: string, count: number, min: number | null, mean: number | null, max: number | null];
export const ValueSums = { name: 0, count: 1, min: 2, mean: 3, max: 4 } as const;

/** A window of the axis. */
export type WindowQuery = {
  from: number;
  to: number;
  px: number;
  /** Numbers of tracks, separated by commas; `7:0-40` means only these depths of track 7. */
  tracks?: string;
  /** Numbers of counters, separated by commas. */
  counters?: string;
};

/** A slow frame, and the name that took the most time in it. */
export type WorstFrame = [number: number, place: Found, most: ChildRow | null];
export const WorstFrame = { number: 0, place: 1, most: 2 } as const;

/** Endpoints for GET. */
export interface Gets {
  "advice": { query: Nothing; answer: AdviceAnswer };
  "around": { query: SpanQuery; answer: Around };
  "changes": { query: ChangesQuery; answer: Changes };
  "counterparts": { query: CounterpartsQuery; answer: Counterparts };
  "definitions": { query: Nothing; answer: DefinitionsAnswer };
  "event": { query: EventQuery; answer: EventDetails };
  "extras": { query: WindowQuery; answer: Extras };
  "findings": { query: Nothing; answer: FindingsAnswer };
  "frames": { query: FramesQuery; answer: Frames };
  "histogram": { query: RangeQuery & HistogramQuery; answer: Histogram };
  "line": { query: LineQuery; answer: LogLine };
  "log": { query: LogQuery; answer: LogAnswer };
  "log/hits": { query: LogQuery & HitsQuery; answer: Array<LogHit> };
  "log/line": { query: LineQuery; answer: LogDetails };
  "longest": { query: RangeQuery & LongestQuery; answer: Longest };
  "memory": { query: MemoryQuery; answer: MemoryAnswer };
  "minimap": { query: MinimapQuery; answer: Minimap };
  "names": { query: NamesQuery; answer: Array<NameRow> };
  "next": { query: NextQuery; answer: Found | null };
  "notes": { query: Nothing; answer: NotesAnswer };
  "overview": { query: Nothing; answer: Overview };
  "picture": { query: WindowQuery; answer: ArrayBuffer };
  "place": { query: PlaceQuery; answer: Found | null };
  "relation": { query: RangeQuery & RelationQuery; answer: Relation | null };
  "search": { query: SearchQuery; answer: SearchAnswer };
  "source": { query: Nothing; answer: SourceAnswer };
  "source/file": { query: FileQuery; answer: FileAnswer };
  "source/sub": { query: SubQuery; answer: SubDetails };
  "span": { query: SpanQuery; answer: SpanDetails };
  "sql/schema": { query: Nothing; answer: Schema };
  "state": { query: StateQuery; answer: StateAnswer };
  "stats": { query: RangeQuery & StatsQuery; answer: Stats };
  "store": { query: Nothing; answer: StoreAbout };
  "store/names": { query: StoredNamesQuery; answer: StoredNames };
  "store/regressions": { query: RegressionsQuery; answer: Changes };
  "store/trace": { query: StoredQuery; answer: StoredDetails };
  "store/trend": { query: TrendQuery; answer: Trend };
  "switch": { query: SwitchQuery; answer: SwitchDetails };
  "text": { query: TextQuery; answer: TextValue };
  "totals": { query: RangeQuery; answer: Totals };
}

/** Endpoints for POST. */
export interface Posts {
  "close": { query: CloseQuery; answer: Done };
  "flame": { query: Nothing; body: FlameQuery; answer: FlameAnswer };
  "notes": { query: Nothing; body: NotesQuery; answer: Done };
  "offset": { query: OffsetQuery; answer: Done };
  "open": { query: OpenQuery; answer: Done };
  "sql": { query: Nothing; body: SqlQuery; answer: SqlAnswer };
  "store/open": { query: OpenStoredQuery; answer: Done };
  "store/traces": { query: Nothing; body: TracesQuery; answer: StoredTraces };
}
