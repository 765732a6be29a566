// All panels, in the order of their tabs.

import type { PageState } from "../store";
import { builds } from "./builds";
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
import { stored } from "./stored";
import { tree } from "./tree";
import { trend } from "./trend";

const PANELS: readonly Panel[] = [
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

/** Those of a store, which has no timeline. */
const STORE_PANELS: readonly Panel[] = [stored, trend, builds];

/** The panels that have something to show. */
export function usefulPanels(state: PageState): Panel[] {
  return (state.stored === null ? PANELS : STORE_PANELS).filter((panel) => panel.isUseful(state));
}
