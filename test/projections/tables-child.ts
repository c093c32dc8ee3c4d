/**
 * Holds tables open and writes them until it is killed, or closes them when its input ends. `node tables-child.js
 * <dir>`
 */
import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { logPosition } from '../../src/log/log.ts';

const tables = new LmdbTables(process.argv[2] ?? '');
let events = 0;

function write(): void {
  events += 1;
  tables.commit((writer) => {
    for (let token = 0; token < 16; token += 1)
      writer.putTokenDigest(`u${String(events % 997)}/${String(token)}`, 'd'.repeat(200));
    writer.putCheckpoint({
      logId: 'l',
      epoch: 0,
      position: logPosition(BigInt(events)),
      eventId: 'e',
      events,
      time: 0,
    });
  });
}

write();
process.stdout.write('open\n');
const writing = setInterval(write, 0);
process.stdin.resume().on('end', () => {
  clearInterval(writing);
  void tables.close();
});
