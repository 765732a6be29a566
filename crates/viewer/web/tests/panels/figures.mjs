// Panels with figures, which match the output of the program.

import assert from "node:assert/strict";
import { isShown, shows, until } from "../viewer.mjs";

/// Lists of the statistics: the columns of a saved table, and their names in the program.
const LISTS = {
  spans: {
    Calls: "calls",
    total_ns: "total_ns",
    self_ns: "self_ns",
    Share: "share",
    min_ns: "min_ns",
    mean_ns: "mean_ns",
    p50_ns: "p50_ns",
    p95_ns: "p95_ns",
    p99_ns: "p99_ns",
    max_ns: "max_ns",
  },
  functions: { Calls: "calls", total_ns: "total_ns", self_ns: "self_ns", Share: "share", mean_ns: "mean_ns" },
  values: {
    Count: "count",
    Min: "min",
    Mean: "mean",
    p50: "p50",
    p95: "p95",
    p99: "p99",
    Max: "max",
    First: "first",
    Last: "last",
  },
  events: { Count: "count" },
  threads: { Tid: "tid", Spans: "spans", busy_ns: "busy_ns" },
};

/// Both as sorted lines of text, because names may occur twice.
const sorted = (rows) => rows.map((row) => JSON.stringify(row)).sort();

/// Every figure of every list, and the visible rows.
export async function stats(viewer) {
  const { page, asked } = viewer;
  const expected = viewer.cli("stats", "--json", ...asked.files);
  // Threads without activity are not listed.
  expected.threads = expected.threads.filter((row) => row.spans + row.switches > 0);
  const panel = page.locator("#panel");
  const lists = Object.keys(LISTS).filter((list) => expected[list].length > 0);
  for (const list of lists) {
    if (lists.length > 1) {
      await page.locator(`#panel [data-choice="${list}"]`).waitFor();
      await viewer.choose(list);
    }
    const [columns, rows] = [LISTS[list], expected[list]];
    const first = Object.keys(columns)[0];
    await viewer.rowsAre(
      `the ${list} are there`,
      (shown) => shown.length > 0 && Object.keys(shown[0]).some((title) => title === first),
    );
    const saved = await viewer.csv();
    const number = (text) => (text === "" ? null : Number(text));
    assert.deepEqual(
      sorted(
        saved.map((row) => [row.Name ?? row.Thread, ...Object.keys(columns).map((column) => number(row[column]))]),
      ),
      sorted(rows.map((row) => [row.name, ...Object.values(columns).map((column) => row[column] ?? null)])),
      `${list} of the statistics`,
    );
    for (const [at, shown] of (await viewer.rows()).entries()) {
      for (const [column, text] of Object.entries(shown)) {
        const value = saved[at][column] ?? saved[at][`${column.toLowerCase()}_ns`];
        if (column in columns || `${column.toLowerCase()}_ns` in columns) {
          assert.ok(
            text === "" ? value === "" : isShown(text, Number(value)) || text === value,
            `${column}: ${text} for ${value}`,
          );
        }
      }
    }
  }
  if (lists.length === 0) await panel.getByText("no spans").waitFor();
  if (expected.spans.length > 0) await statsAreWalked(viewer, expected.spans);
}

/// Sorting, filtering, and a row that selects its name in the timeline.
async function statsAreWalked(viewer, spans) {
  const { page } = viewer;
  if ((await page.locator('#panel [data-choice="spans"]').count()) > 0) await viewer.choose("spans");
  const most = spans.reduce((most, row) => (row.max_ns > most.max_ns ? row : most));
  const head = page.locator("#panel th").filter({ hasText: /^Max$/ });
  await head.click();
  await viewer.rowsAre("the longest comes first", ([first]) => first?.Name === most.name);
  await head.focus();
  await viewer.press("Enter");
  const least = Math.min(...spans.map((row) => row.max_ns));
  await viewer.rowsAre("or the other way round", ([first]) => first && isShown(first.Max, least));
  await page.locator('#panel [aria-label="Filter"]').fill(most.name.toUpperCase());
  const named = spans.filter((row) => row.name.toLowerCase().includes(most.name.toLowerCase()));
  await viewer.rowsAre("the filter leaves what has the text", (rows) => rows.length === named.length);
  const row = page.locator("#panel tbody tr[data-at]").filter({ hasText: most.name }).first();
  await row.click();
  await viewer.linkIs("a row selects its name", ({ name }) => name === most.name);
  await viewer.press("Enter");
  await viewer.linkIs("Enter shows the longest", ({ place, from, to }) => place && to - from >= most.max_ns);
  await page.locator('#panel [aria-label="Filter"]').fill("");
  await head.click();
}

/// The stacks of a folded file as a tree: total and self weight, and children by name.
function foldedTree(folded) {
  const root = { total: 0, own: 0, children: new Map() };
  for (const line of folded.trim().split("\n").filter(Boolean)) {
    const space = line.lastIndexOf(" ");
    const weight = Number(line.slice(space + 1));
    let at = root;
    at.total += weight;
    for (const name of line.slice(0, space).split(";")) {
      if (!at.children.has(name)) at.children.set(name, { total: 0, own: 0, children: new Map() });
      at = at.children.get(name);
      at.total += weight;
    }
    at.own += weight;
  }
  return root;
}

/// The same for a profiler that recorded only sums of calls, if each sub has one caller.
function callTree(subs, weight) {
  const node = (name) => {
    const sub = subs.find((sub) => sub.name === name);
    const own = (weight === "count" ? sub?.calls : sub?.excl_ns) ?? 0;
    return around(
      own,
      subs.filter((sub) => sub.callers[0].by === name).map((sub) => sub.name),
    );
  };
  const around = (own, names) => {
    const children = new Map(names.map((name) => [name, node(name)]));
    return { own, children, total: [...children.values()].reduce((sum, child) => sum + child.total, own) };
  };
  const callers = subs.map((sub) => sub.callers[0].by);
  return around(
    0,
    [...new Set(callers)].filter((name) => !subs.some((sub) => sub.name === name)),
  );
}

/// Rows by path, outermost name first.
function byPath(rows) {
  const path = [];
  return new Map(
    rows.map((row) => {
      path.splice(row.depth, Infinity, row.name);
      return [path.join("\n"), row];
    }),
  );
}

/// Both directions, opened by keys: every row is in the output of the program, and a focus narrows them down.
export async function tree(viewer) {
  const { page, asked } = viewer;
  const item = page.locator("#panel [role=treeitem]");
  const shown = () =>
    item.evaluateAll((items) =>
      items.map((item) => {
        const [total, own, calls, name] = [...item.children].map((cell) => cell.textContent.replace("▾", ""));
        return { depth: item.ariaLevel - 1, name, total: total.split(" · ")[0], own, calls };
      }),
    );
  const compare = async (...options) => {
    const expected = byPath(viewer.cli("tree", "--json", "--min-share", "0%", ...options, ...asked.files).rows);
    const rows = byPath(await shown());
    assert.ok(rows.size > 0, "there are rows");
    for (const [path, row] of rows) {
      if (/^[\d,]+ smaller$/.test(row.name)) continue;
      const known = expected.get(path) ?? assert.fail(`the program has no ${path}`);
      const weight = (what) => known[`${what}_ns`] ?? known[`${what}_bytes`] ?? known[`${what}_calls`];
      shows(row.total, weight("total"), `total of ${path}`);
      if (row.own !== "") shows(row.own, weight("self"), `self of ${path}`);
      shows(row.calls, known.count, `count of ${path}`);
    }
  };
  const weight = await page.locator('#panel [aria-label="Weight"] [aria-checked="true"]').getAttribute("data-choice");
  for (const [side, ...options] of [["bottom", "--bottom-up"], ["top"]]) {
    await viewer.choose(side);
    await page.locator(`#panel [data-shows="${weight} ${side} 0"]`).waitFor();
    await page.locator("#panel [role=tree]").focus();
    await viewer.press("ArrowDown", "Home", "*");
    await compare("--by", weight, ...options);
  }
  const name = (await shown())[0].name;
  await page.locator('#panel [data-choice="focus"]').click();
  await page.locator(`#panel [data-shows="${weight} top 1"]`).waitFor();
  await compare("--by", weight, "--focus", name);
  await page.locator("#panel .crumbs button").first().click();
  await page.locator(`#panel [data-shows="${weight} top 0"]`).waitFor();
}

/// The slowest frames are the longest spans of their name; a row links to its frame.
export async function frames(viewer) {
  const { page } = viewer;
  await page.locator("#panel [data-frames]").waitFor();
  const chosen = await page.getByLabel("Frames are").locator("option:checked").textContent();
  const name = chosen.split(" · ")[0].replaceAll("'", "''");
  const longest = viewer.query(
    `select dur_ns from spans where name = '${name}' order by dur_ns desc nulls last limit 1`,
  );
  const saved = await viewer.csv();
  assert.equal(Number(saved[0].dur_ns), longest[0].dur_ns, `the longest ${name}`);
  const durations = saved.map((row) => Number(row.dur_ns));
  assert.deepEqual(
    durations,
    [...durations].sort((one, other) => other - one),
  );
  await page.locator("#panel tbody tr[data-at]").first().click();
  await viewer.linkIs("a row shows its frame", ({ place }) => place);
  await viewer.focus();
  await viewer.press("Escape", "0");
}

/// From the root along the first children: the card shows the same sums as the program.
export async function flame(viewer) {
  const { page, asked } = viewer;
  const weights = await page
    .locator('#panel [aria-label="Width"] button:not(:disabled)')
    .evaluateAll((buttons) => buttons.map((button) => button.dataset.choice));
  // Live memory at a selected time is checked with the memory panel.
  if (weights.at(-1) === "alive") weights.pop();
  assert.ok(weights.length > 0, "there is something to draw");
  const hasStacks =
    viewer.query("select (select count(*) from spans) + (select count(*) from allocations) as n")[0].n > 0;
  const sides = weights.map((weight) => [weight, "top"]);
  if (hasStacks) sides.push([weights[0], "bottom"]);
  for (const [weight, side] of sides) {
    await viewer.choose(weight);
    await viewer.choose(side);
    const reversed = side === "bottom" ? ["--reversed"] : [];
    let at = hasStacks
      ? foldedTree(viewer.print("flame", "--format", "folded", "--by", weight, ...reversed, ...asked.files))
      : callTree(viewer.cli("lines", "--json", "--subs", ...asked.files).subs, weight);
    const card = page.locator("#panel .card");
    await page.locator(`#panel [data-shows="${weight} ${side}"]`).waitFor();
    await page.locator("#panel .flame").focus();
    await viewer.press("Home");
    shows((await viewer.facts("#panel .card dl")).total.split(" · ")[0], at.total, `${weight} of everything`);
    for (let depth = 0; depth < 4 && at.children.size > 0; depth++) {
      await viewer.press("ArrowDown");
      const name = await card.locator("strong").textContent();
      if (/^\d+ boxes too small/.test(name)) break;
      at = at.children.get(name) ?? assert.fail(`${name} is no child of its parent by ${weight} from ${side}`);
      const facts = await viewer.facts("#panel .card dl");
      shows(facts.total.split(" · ")[0], at.total, `${weight} of ${name}, total`);
      shows(facts.self, at.own, `${weight} of ${name}, self`);
    }
  }
  await viewer.choose("top");
  await page.locator('#panel [data-shows$=" top"]').waitFor();
  await page.locator("#panel .flame").focus();
  await viewer.press("Home", "ArrowDown");
  const name = await page.locator("#panel .card strong").textContent();
  const titles = await viewer.svg("flame.svg");
  assert.ok(
    titles?.some((title) => title.startsWith(`${name}: `)),
    `${name} is in the picture: ${titles}`,
  );
  await page.locator("#panel .flame").focus();
  await viewer.press("Home", "ArrowDown", "Enter");
  await page.locator('#panel .crumbs [aria-current="true"]').filter({ hasText: name }).waitFor();
  await viewer.press("Escape");
  await page.locator('#panel .crumbs [aria-current="true"]').filter({ hasText: "Everything" }).waitFor();
}

/// The figures of a name, and its longest spans.
export async function histogram(viewer) {
  const { page, asked } = viewer;
  const expected = viewer.cli("stats", "--json", ...asked.files).spans.find((row) => (row.category ?? null) === null);
  await viewer.selectName(expected.name);
  const figures = () =>
    page
      .locator("#panel .figures")
      .evaluate((host) =>
        Object.fromEntries(
          [...host.querySelectorAll("span")].map((figure) => [
            figure.firstChild.textContent,
            figure.lastChild.textContent,
          ]),
        ),
      );
  const shown = await until(
    "the figures are of the name",
    figures,
    ({ calls }) => calls && isShown(calls, expected.calls),
  );
  for (const key of ["total", "min", "mean", "p50", "p95", "p99", "max"])
    shows(shown[key], expected[`${key}_ns`], `${key} of ${expected.name}`);
  const name = expected.name.replaceAll("'", "''");
  const longest = viewer.query(
    `select dur_ns from spans where name = '${name}' and dur_ns is not null order by dur_ns desc`,
  );
  await viewer.rowsAre("the longest are listed", (rows) => rows.length > 0);
  const saved = await viewer.csv();
  assert.deepEqual(
    saved.map((row) => Number(row.dur_ns)),
    longest.slice(0, saved.length).map((row) => row.dur_ns),
    "the longest spans",
  );
  await page.locator("#panel tbody tr[data-at]").first().click();
  await viewer.linkIs(
    "a row shows its span",
    ({ from, to, place }) =>
      place && from <= Number(saved[0].ts_ns) && to >= Number(saved[0].ts_ns) + longest[0].dur_ns,
  );
  await viewer.focus();
  await viewer.press("Escape", "0");
}

/// Declarations by name, including files.
export async function definitions(viewer) {
  const rows = viewer.query("select name from definitions union all select name from files");
  await viewer.rowsAre("the declarations are there", (shown) => shown.length > 0);
  const saved = await viewer.csv();
  assert.deepEqual(saved.map((row) => row.Name).sort(), rows.map((row) => row.name ?? "").sort(), "definitions");
}
