// Lists of sites: at the peak, never freed, most bytes, and so on.

import { bytes, count, duration, share } from "../../format";
import type { MemoryList } from "../../store/panels";
import { baseName } from "../../store/state";
import { note } from "../../widgets/dom";
import { table, type Column } from "../../widgets/table";
import type { MemoryAnswer, MemorySite as Site } from "../../wire";

/** The innermost frame and its location. */
export function placeOf(site: Site): string {
  const [frame] = site.stack;
  if (!frame) return "(unknown)";
  const { function: name, file, line } = frame;
  return file ? `${name}  ${baseName(file)}${line === null ? "" : `:${line}`}` : name;
}

function callersOf(site: Site): string {
  return site.stack
    .slice(1, 4)
    .map((frame) => frame.function)
    .join(" < ");
}

interface Row {
  site: Site;
  bytes: number;
  count: number;
}

/** The elements of a list. */
export function listOf(
  list: MemoryList,
  report: MemoryAnswer,
  choose: (site: Site) => void,
  isChosen: (site: Site) => boolean,
): HTMLElement[] {
  const by = new Map(report.sites.map((site) => [site.number, site]));
  const sites = (numbers: number[]): Site[] => numbers.flatMap((number) => by.get(number) ?? []);
  const plain = (numbers: number[]): Row[] =>
    sites(numbers).map((site) => ({ site, bytes: site.bytes, count: site.count }));
  const shown = (columns: Column<Row>[], rows: Row[], all: number): HTMLElement[] => [
    ...(rows.length < all ? [note(`The first ${count(rows.length)} of ${count(all)} sites.`)] : []),
    table([SITE, ...columns, CALLERS], rows, (row) => choose(row.site), {
      isChosen: (row) => isChosen(row.site),
      name: `memory-${list}`,
    }),
  ];
  if (list === "lifetimes") return [lifetimes(report)];
  if (list === "peak" || list === "at") {
    const moment = list === "at" ? report.at : report.peak;
    if (!moment) return [];
    const rows = moment.sites.flatMap(({ site: number, bytes, count }) => {
      const site = by.get(number);
      return site ? [{ site, bytes, count }] : [];
    });
    if (rows.length === 0) return [note("Nothing was in use.")];
    return shown([amount("alive", moment.bytes), COUNT, part(moment.bytes)], rows, moment.all_sites);
  }
  if (list === "leaks") {
    const rows = sites(report.leaks).map((site) => ({ site, bytes: site.live_bytes, count: site.live }));
    if (rows.length === 0) return [note("Everything was freed.")];
    const { last_ns, live_bytes } = report;
    const age: Column<Row> = {
      title: "oldest",
      text: ({ site }) => (site.oldest_live_ns === null ? "" : duration(last_ns - site.oldest_live_ns)),
      value: ({ site }) => last_ns - (site.oldest_live_ns ?? last_ns),
      hint: "Age of the oldest allocation at the end",
      csv: "oldest_ns",
    };
    return shown([amount("never freed", live_bytes), COUNT, part(live_bytes), age], rows, report.all_leaks);
  }
  if (list === "growth")
    return shown(
      [amount("bytes", report.allocated_bytes), GROWS, ...QUARTERS],
      bySlope(plain(report.hot)),
      report.all_sites,
    );
  const all = report.allocated_bytes;
  if (list === "of") {
    if (report.of.length === 0) return [note("No allocation has this function in its stack.")];
    return shown([amount("bytes", all), COUNT, part(all), MEAN, TEMPORARY], plain(report.of), report.all_of);
  }
  return shown(
    [amount("bytes", all), COUNT, part(all), MEAN, TEMPORARY],
    plain(list === "often" ? report.often : report.hot),
    report.all_sites,
  );
}

const SITE: Column<Row> = {
  title: "site",
  text: ({ site }) => placeOf(site),
  hint: "The innermost function that allocated",
};
const CALLERS: Column<Row> = { title: "called by", text: ({ site }) => callersOf(site) };
const COUNT: Column<Row> = { title: "count", text: (row) => count(row.count), value: (row) => row.count };
const MEAN: Column<Row> = {
  title: "mean lifetime",
  text: ({ site }) => (site.freed > 0 ? duration(site.lifetime_ns / site.freed) : ""),
  value: ({ site }) => (site.freed > 0 ? site.lifetime_ns / site.freed : NaN),
  csv: "mean_lifetime_ns",
};
const TEMPORARY: Column<Row> = {
  title: "temporary",
  text: ({ site }) => (site.temporary > 0 ? count(site.temporary) : ""),
  value: ({ site }) => site.temporary,
  hint: "Freed by the next event",
};
const QUARTERS: Column<Row>[] = [0, 1, 2, 3].map((quarter) => ({
  title: `Q${quarter + 1}`,
  hint: `Bytes allocated in quarter ${quarter + 1} of the trace`,
  csv: `quarter_${quarter + 1}`,
  text: ({ site }) => bytes(site.quarters[quarter] ?? 0),
  value: ({ site }) => site.quarters[quarter] ?? 0,
  bar: ({ site }) => (site.quarters[quarter] ?? 0) / Math.max(1, ...site.quarters),
}));

/** The mean growth of a site from quarter to quarter, in bytes. */
export function slope([first = 0, second = 0, third = 0, fourth = 0]: readonly number[]): number {
  return (3 * (fourth - first) + (third - second)) / 10;
}

/** Whether a site allocates in each quarter, and never less than before. */
export function isSteady(quarters: readonly number[]): boolean {
  return quarters.every((bytes, at) => bytes > 0 && bytes >= (quarters[at - 1] ?? 0));
}

function bySlope(rows: Row[]): Row[] {
  return [...rows].sort((one, other) => slope(other.site.quarters) - slope(one.site.quarters));
}

const GROWS: Column<Row> = {
  title: "grows",
  text: ({ site }) => (isSteady(site.quarters) ? "in each quarter" : ""),
  hint: "Allocates in each quarter, and never less than in the one before",
};

function amount(title: string, whole: number): Column<Row> {
  return {
    title,
    text: (row) => bytes(row.bytes),
    value: (row) => row.bytes,
    bar: (row) => row.bytes / Math.max(1, whole),
  };
}

function part(whole: number): Column<Row> {
  return { title: "share", text: (row) => share(row.bytes, whole), value: (row) => row.bytes };
}

function lifetimes(report: MemoryAnswer): HTMLElement {
  const rows = report.lifetimes.filter((row) => row.count > 0);
  if (rows.length === 0) return note("Nothing was freed.");
  const most = Math.max(...rows.map((row) => row.count));
  return table<(typeof rows)[number]>(
    [
      { title: "lived", text: (row) => (row.below_ns === null ? "longer" : `less than ${duration(row.below_ns)}`) },
      {
        title: "allocations",
        text: (row) => count(row.count),
        value: (row) => row.count,
        bar: (row) => row.count / most,
      },
      { title: "bytes", text: (row) => bytes(row.bytes), value: (row) => row.bytes },
    ],
    rows,
    undefined,
    { name: "memory-lifetimes" },
  );
}
