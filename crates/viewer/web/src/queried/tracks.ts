// SQL results that are kept on the timeline. A link saves the queries, which are run again.

import { askWith } from "../api";
import { complain } from "../header";
import { keepLink, linkOf, store } from "../store";
import { isLoading } from "../store/state";
import type { SqlAnswer } from "../wire";
import { trackOf, type Track } from "./answer";

/** Max number of tracks. */
const MAX_TRACKS = 6;

let last: Promise<unknown> = Promise.resolve();

/** Runs SQL queries one after the other, because the server stops a query when the next one arrives. */
export function runQuery(sql: string, signal: AbortSignal): Promise<SqlAnswer> {
  const own = last.then(() => answered(sql, signal));
  last = own.catch(() => undefined);
  return own;
}

/** A canceled query may still reach the server later and stop this one, which is then run again. */
async function answered(sql: string, signal: AbortSignal): Promise<SqlAnswer> {
  const answer = await askWith("sql", { sql }, signal);
  const isStopped = "rows" in answer && answer.is_stopped;
  return isStopped ? askWith("sql", { sql }, signal) : answer;
}

/** The queries whose results are on the timeline. */
function wanted(): string[] {
  const kept = linkOf("queried")?.tracks;
  return Array.isArray(kept) ? kept.filter((sql) => typeof sql === "string").slice(0, MAX_TRACKS) : [];
}

/** Adds a result to the timeline, and removes the oldest if there are too many. */
export function addTrack(track: Track): void {
  const others = wanted().filter((sql) => sql !== track.sql);
  store.set({ queried: [track, ...store.state.queried.filter(({ sql }) => sql !== track.sql)] });
  keepLink("queried", { tracks: [track.sql, ...others].slice(0, MAX_TRACKS) });
}

/** Removes a result from the timeline. */
export function dropTrack(sql: string): void {
  keepLink("queried", { tracks: wanted().filter((other) => other !== sql) });
}

/** Everything that a result depends on besides its query. */
function basis(): string {
  const traces = store.state.server.traces.map(({ trace_id, offset_ns, state }) => [trace_id, offset_ns, state]);
  return JSON.stringify(traces);
}

/** Runs the queries of the link, and again whenever their traces are moved. */
export function followQueries(): void {
  let known = basis();
  let isRunning = false;
  const follow = async (): Promise<void> => {
    if (isRunning || isLoading(store.state) || !store.state.server.sql) return;
    isRunning = true;
    try {
      for (let sql = missing(); sql !== undefined; sql = missing()) await run(sql);
    } finally {
      isRunning = false;
    }
  };
  const change = (): void => {
    const now = basis();
    // Results with times of another axis are not shown; they are requested again.
    if (now !== known) store.set({ queried: [] });
    known = now;
    const all = wanted();
    const kept = store.state.queried.filter(({ sql }) => all.includes(sql));
    if (kept.length !== store.state.queried.length) store.set({ queried: kept });
    void follow();
  };
  store.subscribe(({ links }) => links["queried"], change);
  store.subscribe(({ server }) => server.traces, change);
}

function missing(): string | undefined {
  return wanted().find((sql) => store.state.queried.every((track) => track.sql !== sql));
}

async function run(sql: string): Promise<void> {
  try {
    const answer = await runQuery(sql, new AbortController().signal);
    if ("problem" in answer) throw new Error(answer.problem.message);
    const track = trackOf(sql, answer);
    if (!track) throw new Error("The result has no times");
    // In the order of the link.
    const all = [...store.state.queried, track];
    store.set({ queried: wanted().flatMap((one) => all.find((known) => known.sql === one) ?? []) });
  } catch (error) {
    dropTrack(sql);
    complain(error);
  }
}
