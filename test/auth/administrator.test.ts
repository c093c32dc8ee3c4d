import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

import { ensureAdministrator, type AdministratorReport } from '../../src/auth/administrator.ts';
import { Passwords } from '../../src/auth/password.ts';
import { Secrets } from '../../src/auth/secrets.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { MemoryLog } from '../support/memory-log.ts';

const passwords = new Passwords();

async function given(log = new MemoryLog()) {
  const dataDir = await mkdtemp(join(tmpdir(), 'ledgerplane-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const secrets = new Secrets(log, new FakeClock());
  return {
    log, secrets, file: join(dataDir, 'admin-password'),
    start: (password?: string): Promise<AdministratorReport> => ensureAdministrator({ secrets, passwords, dataDir, password }),
    verifies: async (password: string): Promise<boolean> => passwords.verify(password, await secrets.passwordHashOf('admin')),
  };
}

t.test('the first start draws a password into a file only its owner reads, and tells the path and not the password', async (t) => {
  const { file, start, verifies } = await given();
  const report = await start();
  const password = (await readFile(file, 'utf8')).trim();
  t.match([report.created, report.notices.length], [true, 1]);
  t.ok(report.notices[0]?.includes(file));
  t.notOk(report.notices[0]?.includes(password));
  t.ok(password.length >= 24);
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.equal(await verifies(password), true);
  t.strictSame(await start(), { created: false, notices: [] }, 'the second start says nothing');
});

t.test('ADMIN_PASSWORD is the first password, and another one later changes nothing and says so', async (t) => {
  const { file, start, verifies } = await given();
  const report = await start('given');
  t.notOk(JSON.stringify(report).includes('"given"'));
  await t.rejects(stat(file), { code: 'ENOENT' });
  t.strictSame(await start('given'), { created: false, notices: [] });
  const later = await start('another');
  t.match(later, { created: false, notices: [/ADMIN_PASSWORD counts at the first start only/u] });
  t.notOk(JSON.stringify(later).includes('another'));
  t.equal(await verifies('given'), true);
});

t.test('a start that died between the file and the event is made good by the next', async (t) => {
  const { file, start, verifies } = await given();
  await writeFile(file, 'stale\n', { mode: 0o644 });
  await writeFile(`${file}.new`, 'half', { mode: 0o644 });
  await start();
  const password = (await readFile(file, 'utf8')).trim();
  t.not(password, 'stale');
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.equal(await verifies(password), true);
});

t.test('of two nodes that start at once one makes the administrator, and the other keeps no file', async (t) => {
  const log = new MemoryLog();
  const nodes = [await given(log), await given(log)] as const;
  const reports = await Promise.all(nodes.map(({ start }) => start()));
  const winner = reports.findIndex(({ created }) => created);
  t.equal(reports.filter(({ created }) => created).length, 1);
  await t.rejects(stat(nodes[1 - winner as 0 | 1].file), { code: 'ENOENT' });
  t.equal(await nodes[0].verifies((await readFile(nodes[winner as 0 | 1].file, 'utf8')).trim()), true);
});

t.test('no event of the log holds the password', async (t) => {
  const { log, start } = await given();
  await start('given-in-the-environment');
  for await (const batch of log.readAll({ after: 0n as never })) {
    for (const { stream, type, data, metadata } of batch) {
      t.equal(`${stream} ${type}`, 'secret:admin PasswordSet');
      t.notOk(Buffer.concat([data, metadata]).includes('given-in-the-environment'));
    }
  }
});
