// What the server tells of lines and subs.

export interface Figures {
  count: number;
  incl_ns: number;
  excl_ns: number;
  recursive_ns: number;
  depth: number;
}

export interface FileRow {
  id: number;
  name: string;
  count: number;
  time_ns: number;
  bytes?: number;
  has_text: boolean;
}

export interface SubRow {
  name: string;
  file: number | null;
  line: number | null;
  last_line: number | null;
  kind: string;
  places: number;
  figures: Figures;
}

export interface SourceList {
  trace: number;
  kind: "lines" | "places";
  has_blocks?: boolean;
  time_ns: number;
  all_files: number;
  files: FileRow[];
  subs?: SubRow[];
}

type Heat = "cold" | "mild" | "warm" | "hot";

export type Line = [
  line: number,
  statements: number | null,
  timeNs: number | null,
  heat: Heat | null,
  calls: number | null,
  inSubsNs: number | null,
  subsHeat: Heat | null,
  text: string | null,
];

/** The lines of a file that a line profiler has seen. */
export interface FileAnswer {
  kind: "lines";
  name: string;
  count: number;
  time_ns: number;
  most_ns: number;
  parent: [file: number, line: number] | null;
  merged: number;
  has_text: boolean;
  all_lines: number;
  lines: Line[];
  subs: [line: number | null, name: string, figures: Figures][];
  calls: [line: number, all: number, named: [name: string, count: number, inclNs: number][]][];
  evals: [line: number, count: number, different: number, timeNs: number][];
}

/** The lines of a file that rows name. */
export interface PlacesAnswer {
  kind: "places";
  name: string;
  count: number;
  time_ns: number;
  bytes: number;
  all_lines: number;
  lines: [line: number, kind: string, name: string, count: number, totalNs: number, selfNs: number, bytes: number][];
}

export interface SubAnswer extends SubRow {
  file_name: string | null;
  all_callers: number;
  callers: { by: string | null; file: number | null; name: string | null; line: number | null; figures: Figures }[];
  all_callees: number;
  callees: { name: string; figures: Figures }[];
}
