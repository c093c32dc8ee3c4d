import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';

import { privateDir, takeDataDir } from '../../src/disk/data-dir.ts';

test("of servers that start at the same moment on a killed server's folder one alone takes it", async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-lock-'));
    t.teardown(() => {
      rmSync(dir, { recursive: true, force: true });
    });
    await leaveDeadSocket(join(dir, 'lock.sock'));
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(async () => takeDataDir(dir)));
    const locked = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    t.equal(locked.length, 1);
    for (const { reason } of outcomes.filter((outcome) => outcome.status === 'rejected'))
      t.match(reason, { exitCode: 2, message: /another server is running/u });
    await locked[0]?.value.release();
    const again = await takeDataDir(dir);
    await again.release();
  }
});

test('a folder that others may look into is closed to them', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-private-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const open = join(dir, 'log');
  mkdirSync(open, { mode: 0o755 });
  privateDir(open);
  t.equal(statSync(open).mode & 0o777, 0o700);
  t.end();
});

async function leaveDeadSocket(path: string): Promise<void> {
  const child = spawn(
    process.execPath,
    ['-e', `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  if (!existsSync(path)) throw new Error('the socket should have outlived its process');
}
