/**
 * Runs the server in a process of its own, so that a test can kill and stop a real process: `node main.js [--port N]
 * [--file PATH] [--credentials user:password]`. It prints `ready <url>` when it accepts calls. With a file,
 * acknowledged events survive SIGKILL; without a file, all events are lost with the process.
 */
import { parseArgs } from 'node:util';

import { fileDisk, memoryDisk } from './event-disk.ts';
import { startEventStore } from './eventstore.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, file: { type: 'string' }, credentials: { type: 'string' } },
});
const disk = values.file === undefined ? memoryDisk() : await fileDisk(values.file);
const store = await startEventStore({
  port: Number(values.port),
  disk,
  direct: true,
  ...(values.credentials === undefined ? {} : { credentials: values.credentials }),
});
process.stdout.write(`ready ${store.url}\n`);

// When the parent process ends, its pipe closes and this server ends.
process.stdin
  .on('end', () => {
    process.exit(0);
  })
  .resume();
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    void store.stop().then(() => {
      process.exit(0);
    });
  });
