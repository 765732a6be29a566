// What a person sees of a large trace: how soon, how smooth, and what the page holds.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { main, visit } from '../crates/testkit/browser/browser.mjs';

const WAIT = { timeout: 100_000 };

/// Ten seconds of zooming and moving, as a hand does it.
async function play(page) {
  const end = Date.now() + 10_000;
  await page.mouse.move(740, 240);
  for (let round = 0; Date.now() < end; round += 1) {
    for (let step = 0; step < 25; step += 1) {
      await page.mouse.wheel(0, round % 2 === 0 ? -100 : 100);
      await page.waitForTimeout(8);
    }
    await page.mouse.down();
    for (let step = 0; step < 30; step += 1) {
      await page.mouse.move(740 + (round % 4 < 2 ? -8 : 8) * step, 240);
      await page.waitForTimeout(8);
    }
    await page.mouse.up();
  }
}

/// The intervals of animation frames while something happens, in ms and in order.
async function frames(page, work) {
  await page.evaluate(() => {
    globalThis.frameTimes = [];
    const next = (time) => { globalThis.frameTimes.push(time); requestAnimationFrame(next); };
    requestAnimationFrame(next);
  });
  await work();
  const times = await page.evaluate(() => globalThis.frameTimes);
  return times.slice(1).map((time, at) => time - times[at]).sort((one, other) => one - other);
}

function address(program) {
  return new Promise((resolve) => {
    let text = '';
    program.stdout.on('data', (part) => {
      text += part;
      if (text.includes('\n')) resolve(text.trim());
    });
  });
}

await main(async (browser, { program, file, told }) => {
  const { context } = await visit(browser);
  const page = await context.newPage();
  const begin = Date.now();
  const server = spawn(program, ['serve', file]);
  try {
    await page.goto(await address(server));
    await page.waitForFunction(() => performance.getEntriesByName('traceloom-picture').length > 0, null, { ...WAIT, polling: 20 });
    const picture = await page.evaluate(() => performance.timeOrigin + performance.getEntriesByName('traceloom-picture')[0].startTime);
    await page.waitForFunction(() => document.getElementById('picture').dataset.drawn === 'true', null, WAIT);
    const loaded = Date.now();
    const intervals = await frames(page, () => play(page));
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const heap = await session.send('Runtime.getHeapUsage');
    const held = fs.readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/);
    fs.writeFileSync(told, JSON.stringify({
      picture_ms: picture - begin,
      loaded_ms: loaded - begin,
      frames: intervals.length,
      frame_ms: intervals[Math.floor(intervals.length * 0.95)],
      page_bytes: heap.usedSize + (heap.embedderHeapUsedSize ?? 0) + (heap.backingStorageSize ?? 0),
      server_bytes: Number(held?.[1] ?? 0) * 1024,
    }));
  } finally {
    server.kill();
  }
});
