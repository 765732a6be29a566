'use strict';
// Loads a trace with the reader of the Web Tracing Framework and prints the number of events and closed scopes, the CPU
// time of loading in seconds and the peak memory in bytes. Usage: node wtf.js MODULE_DIR FILE

const path = require('path');
const reader = path.join(process.argv[2], 'node_modules/tracing-framework/build-out/wtf_node_js_compiled.js');
const print = console.log;
console.log = console.warn = console.error = () => {};

const wtf = require(reader);
const before = process.cpuUsage();
wtf.db.load(process.argv[3], db => {
  const used = process.cpuUsage(before);
  if (!db || db instanceof Error) {
    process.exitCode = 1;
    return;
  }
  let events = 0;
  let scopes = 0;
  for (const zone of db.getZones()) {
    const list = zone.getEventList();
    for (let it = list.begin(); !it.done(); it.next()) {
      events++;
      if (it.isScope()) scopes++;
    }
  }
  print([events, scopes, (used.user + used.system) / 1e6, process.resourceUsage().maxRSS * 1024].join(' '));
});
