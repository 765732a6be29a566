// All panels, in the order of their tabs.

import { changes } from "./changes";
import { definitions } from "./definitions";
import { findings } from "./findings";
import { flame } from "./flame";
import { frames } from "./frames";
import { histogram } from "./histogram";
import { log } from "./log";
import { memory } from "./memory";
import { notes } from "./notes";
import { overview } from "./overview";
import type { Panel } from "./panel";
import { selection } from "./selection";
import { source } from "./source";
import { sql } from "./sql";
import { stats } from "./stats";
import { tree } from "./tree";

export const PANELS: readonly Panel[] = [
  overview,
  selection,
  changes,
  stats,
  frames,
  tree,
  flame,
  histogram,
  log,
  source,
  memory,
  sql,
  findings,
  definitions,
  notes,
];
