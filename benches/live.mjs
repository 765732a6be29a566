// What a person sees of a program while it runs: how smooth the page is, how late it is, and what the server holds.
//
// Wants on standard input: the program, what it should watch (a command with SOCKET in it), a folder, more words for
// `view`, seconds to look, and a file for the answer.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { main, until, visit } from '../crates/testkit/browser/browser.mjs';

/// Keeps the intervals of animation frames, and how old the newest is that the picture shows, in ms.
function observe() {
  const seen = { intervals: [], ages: [], pictures: 0, last: 0, shown: 0, end: 0, origin: 0 };
  globalThis.seen = seen;
  const plain = globalThis.fetch;
  globalThis.fetch = async (url, init) => {
    const asked = new URL(url, location.href);
    // What is not known when a picture is asked for is not in it.
    const reach = Math.min(Number(asked.searchParams.get('to') ?? Infinity), seen.end);
    const answer = await plain(url, init);
    if (asked.pathname === '/api/picture' && answer.ok) {
      seen.shown = Math.max(seen.shown, reach);
      seen.pictures += 1;
    } else if (asked.pathname === '/api/state') {
      const { traces } = await answer.clone().json();
      if (traces?.[0]?.unix_origin_ns) {
        seen.origin = Number(traces[0].unix_origin_ns) / 1e6;
        seen.end = traces[0].to_ns + traces[0].offset_ns;
      }
    }
    return answer;
  };
  const next = (time) => {
    if (seen.last > 0) seen.intervals.push(time - seen.last);
    if (seen.shown > 0) seen.ages.push(Date.now() - seen.origin - seen.shown / 1e6);
    seen.last = time;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

const held = (child, what) =>
  Number(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8').match(new RegExp(`${what}:\\s+(\\d+)`))?.[1] ?? 0) * 1024;

const at = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

await main(async (browser, { program, watched, folder, words = [], seconds, told }) => {
  const socket = `${folder}/live.sock`;
  const file = `${folder}/live.wtf-trace`;
  const [command, ...rest] = watched.map((word) => word.replace('SOCKET', socket));
  const children = [spawn(command, rest, { stdio: 'inherit' })];
  try {
    await until('the program serves', () => fs.existsSync(`${socket}.token`), (isThere) => isThere);
    const server = spawn(program, ['view', '--no-open', '--live', socket, '-o', file, ...words]);
    children.push(server);
    const [address] = await once(server.stdout, 'data');
    const { context } = await visit(browser);
    await context.addInitScript(observe);
    const page = await context.newPage();
    await page.goto(String(address).trim());
    await page.waitForFunction(() => globalThis.seen.pictures > 5);
    const follow = page.locator('#follow');
    if ((await follow.getAttribute('aria-pressed')) === 'false') await follow.click();
    // Without the start.
    await page.waitForTimeout(3000);
    await page.evaluate(() => Object.assign(globalThis.seen, { intervals: [], ages: [], pictures: 0 }));
    await page.waitForTimeout(seconds * 1000);
    const { intervals, ages, pictures } = await page.evaluate(() => globalThis.seen);
    const state = await page.locator('#live').textContent();
    const follows = await follow.getAttribute('aria-pressed');
    for (const list of [intervals, ages]) list.sort((one, other) => one - other);
    const answer = {
      seconds, state, follows, pictures,
      frames_per_second: intervals.length / seconds,
      frame_ms: { p50: at(intervals, 0.5), p95: at(intervals, 0.95), max: at(intervals, 1) },
      age_ms: { p50: at(ages, 0.5), p95: at(ages, 0.95), max: at(ages, 1) },
      file_bytes: fs.statSync(file).size,
      server_bytes: held(server, 'VmHWM'),
    };
    fs.writeFileSync(told, `${JSON.stringify(answer, null, 1)}\n`);
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
});
