import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Test } from 'tap';

import { logSettings } from '../../support/memory/event-log.ts';
import { StalledLog } from '../../support/memory/stalled-log.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { commentServer, startLogServer } from './log-server.ts';

/** Two nodes over one log; `stall` keeps the second one from folding. */
export type StalledNodes = { readonly first: TestServer; readonly second: TestServer; readonly stall: StalledLog };

export async function startStalledNodes(t: Test): Promise<StalledNodes> {
  commentServer(t);
  const log = await startLogServer(t);
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-stalled-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const stall = new StalledLog();
  const environment = { ...logSettings(log) };
  const first = await startTestServer({ dataDir: join(folder, 'first'), environment });
  t.teardown(async () => first.close());
  const second = await startTestServer({ dataDir: join(folder, 'second'), environment, openLog: stall.open });
  t.teardown(async () => {
    stall.release();
    await second.close();
  });
  return { first, second, stall };
}
