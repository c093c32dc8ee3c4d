import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test } from 'tap';

import { PermissionTables } from '../../projections/permissions/permission-tables.ts';
import { decodeConfig } from '../../src/config/config.ts';
import { FoundedLog } from '../../src/log/founded-log.ts';
import { Replays } from '../../src/server/replay/replays.ts';
import { domain, widgets } from '../support/given.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { Writing } from '../support/writing.ts';

test('a replay is refused while the indexes of a type are being built, and starts no thread', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledgerplane-building-'));
  t.teardown(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });
  const decoded = decodeConfig({ DATA_DIR: dataDir, EVENT_LOG: 'embedded:' }, dataDir);
  if (!decoded.ok) throw new Error(decoded.mistakes.join('\n'));
  const { models, clock } = await Writing.open(t, { type: widgets });
  const permissions = new PermissionTables({ reader: models, feed: models, domain });
  const audit = {
    position: () => models.position(),
    unavailable: () => undefined,
    overdue: () => undefined,
    reached: async () => Promise.resolve('reached' as const),
  };
  const columns = { hold: () => ({ columns: [], others: [] }) };
  const log = new FoundedLog(new MemoryLog());
  const live = { models, audit, columns, log, permissions, domain, clock, disk: { isShort: () => false } };
  const replays = new Replays({ config: decoded.config, reserveBytes: 0, clock, live });
  const built = models.buildIndexes(widgets);
  const { signal } = new AbortController();
  const answer = await replays.start({ until: undefined, print: undefined, mayRead: () => true, signal });
  t.strictSame(answer, {
    ok: false,
    reason: 'unavailable',
    detail: `the indexes of ${widgets.key} are being built`,
  });
  t.strictSame(readdirSync(dataDir), []);
  await built;
  await replays.stop();
});
