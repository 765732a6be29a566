// Everybody can read a report, in both themes, and it asks for nothing.

import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

import { main, visit } from '../../testkit/browser/browser.mjs';

const axe = createRequire(path.join(process.env.TRACELOOM_MODULES, 'package.json')).resolve('axe-core/axe.min.js');

/// What axe-core complains of: rule and element.
async function violations(page) {
  await page.evaluate(fs.readFileSync(axe, 'utf8'));
  const all = await page.evaluate(async () => (await window.axe.run(document)).violations);
  const serious = all.filter(({ impact }) => ['critical', 'serious'].includes(impact));
  return serious.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
}

await main(async (browser, { pages }) => {
  for (const colorScheme of ['light', 'dark']) {
    for (const [name, html] of Object.entries(pages)) {
      const { context, complaints } = await visit(browser, { colorScheme });
      const page = await context.newPage();
      await page.setContent(html);
      await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
      const sums = await page.evaluate(() => [document.scripts.length, document.querySelectorAll('table, svg').length]);
      if (sums[0] > 0 || sums[1] === 0) throw new Error(`${name}: ${sums}`);
      const found = [...(await violations(page)), ...complaints];
      if (found.length > 0) throw new Error(`${name}, ${colorScheme}:\n${found.join('\n')}`);
      await context.close();
    }
  }
});
