import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type Test } from 'tap';

import { ensureAdministrator, type AdministratorReport } from '../../src/auth/super-administrator.ts';
import { randomUUID } from 'node:crypto';
import type { Command, WriteOutcome } from '../../src/command/command.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { Accounts } from '../support/server/accounts.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { basic } from './credentials.ts';

type Fault = (type: ResourceType, command: Command) => WriteOutcome | undefined;

async function given(t: Test, log = new MemoryLog()) {
  const dataDir = await mkdtemp(join(tmpdir(), 'ledgerplane-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const accounts = await Accounts.open(t, { log });
  const { permissions, users, roleBindings, secrets, passwords } = accounts;
  const start = async (password?: string, fault: Fault = () => undefined): Promise<AdministratorReport> =>
    ensureAdministrator({
      permissions,
      users,
      roleBindings,
      secrets,
      passwords,
      dataDir,
      password,
      uuid: randomUUID,
      execute: async (type, command, context) => fault(type, command) ?? accounts.execute(type, command, context),
    });
  const logsIn = async (password: string): Promise<boolean> =>
    (
      await accounts.authenticator.authenticate({
        authorization: basic('admin', password),
        cookie: undefined,
        address: '',
      })
    ).ok;
  const holders = () => [...permissions.holders('super-role')];
  return { accounts, file: join(dataDir, 'admin-password'), start, logsIn, holders };
}

const bound = [{ binding: 'admin-super-role', user: 'admin' }];

test('the first start writes a drawn password to a file that only its owner reads, and logs its path', async (t) => {
  const { file, start, logsIn, holders } = await given(t);
  const report = await start();
  const password = (await readFile(file, 'utf8')).trim();
  t.match([report.created, report.notices.length], [true, 1]);
  t.ok(report.notices[0]?.includes(file));
  t.notOk(report.notices[0]?.includes(password));
  t.ok(password.length >= 24);
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.equal(await logsIn(password), true);
  t.strictSame(holders(), bound);
  t.strictSame(await start(), { created: false, notices: [] }, 'the second start says nothing');
  t.equal(await logsIn((await readFile(file, 'utf8')).trim()), true, 'and leaves the file');
});

test('ADMIN_PASSWORD is the first password; another value later changes nothing and is logged', async (t) => {
  const { file, start, logsIn } = await given(t);
  const report = await start('given once');
  t.notOk(JSON.stringify(report).includes('"given"'));
  await t.rejects(stat(file), { code: 'ENOENT' });
  t.strictSame(await start('given once'), { created: false, notices: [] });
  const later = await start('another');
  t.match(later, { created: false, notices: [/ADMIN_PASSWORD applies at the first start only/u] });
  t.notOk(JSON.stringify(later).includes('another'));
  t.equal(await logsIn('given once'), true);
});

const dead: WriteOutcome = {
  ok: false,
  rejection: { reason: 'unavailable', detail: 'the event log is unreachable', retryAfterSeconds: 1 },
};

test('the next start completes a start that died between any two steps', async (t) => {
  const { accounts, file, start, logsIn, holders } = await given(t);
  await writeFile(file, 'stale\n', { mode: 0o644 });
  await writeFile(`${file}.new`, 'half', { mode: 0o644 });
  await t.rejects(
    start(undefined, () => dead),
    { message: /cannot create the super administrator/u },
  );
  t.not((await readFile(file, 'utf8')).trim(), 'stale', 'the file is written, the user is not made');
  t.equal((await stat(file)).mode & 0o777, 0o600);
  await t.rejects(
    start(undefined, (type) => (type === accounts.roleBindings ? dead : undefined)),
    { message: /cannot create the super administrator/u },
  );
  const password = (await readFile(file, 'utf8')).trim();
  t.strictSame(holders(), [], 'the user is made, the binding is not');
  t.match(await start(), { created: false });
  t.equal((await readFile(file, 'utf8')).trim(), password, 'the password in the file is the one that counts');
  t.equal(await logsIn(password), true);
  t.strictSame(holders(), bound);
});

test('without any super administrator the administrator is enabled and bound again, password included', async (t) => {
  const { accounts, start, logsIn, holders } = await given(t);
  await start('given once');
  await accounts.merge(accounts.users, 'admin', { spec: { disabled: true } });
  t.match(await start('other one'), {
    created: false,
    notices: [/applies at the first start only/u, /enabled the user "admin" again/u],
  });
  t.strictSame(holders(), bound);
  await accounts.merge(accounts.roleBindings, 'admin-super-role', {
    subjects: [{ apiGroup: '', kind: 'User', name: 'jane' }],
  });
  t.strictSame(await start(), { created: false, notices: [] });
  t.strictSame(holders(), bound);
  t.equal(await logsIn('given once'), true);
});

test('an administrator without a password gets one', async (t) => {
  const { accounts, file, start, logsIn, holders } = await given(t);
  await accounts.create(accounts.users, 'admin', { spec: {} });
  t.match(await start(), { created: false, notices: [/set a password for the user "admin"/u] });
  t.equal(await logsIn((await readFile(file, 'utf8')).trim()), true);
  t.strictSame(holders(), bound);
});

test('another super administrator that can log in suffices', async (t) => {
  const { accounts, start } = await given(t);
  await accounts.create(accounts.users, 'root', { spec: { password: 'a password of theirs' } });
  await accounts.create(accounts.roleBindings, 'root', {
    roleRef: { kind: 'Role', name: 'super-role' },
    subjects: [{ kind: 'User', name: 'root' }],
  });
  t.strictSame(await start(), { created: false, notices: [] });
  t.match(await start('given once'), { created: false, notices: [/applies at the first start only/u] });
  t.equal(accounts.object(accounts.users, 'admin'), undefined);
});

test('of two nodes that start at once one creates the administrator, and the other leaves no file', async (t) => {
  const log = new MemoryLog();
  const nodes = [await given(t, log), await given(t, log)] as const;
  const reports = await Promise.all(nodes.map(({ start }) => start()));
  const winner = reports.findIndex(({ created }) => created);
  t.equal(reports.filter(({ created }) => created).length, 1);
  await t.rejects(stat(nodes[(1 - winner) as 0 | 1].file), { code: 'ENOENT' });
  const password = (await readFile(nodes[winner as 0 | 1].file, 'utf8')).trim();
  for (const { logsIn, holders } of nodes) {
    t.equal(await logsIn(password), true);
    t.strictSame(holders(), bound);
  }
});

test('an invalid password is refused with its violation', async (t) => {
  const { start, holders } = await given(t);
  const refused = await start('tab\there').then(
    () => 'made',
    (error: unknown) => String(error),
  );
  t.match(refused, /cannot create the super administrator/u);
  t.notMatch(refused, /there$|tab.here/u);
  t.strictSame(holders(), []);
});

test('no event of the log contains the password', async (t) => {
  const { accounts, start } = await given(t);
  await start('given-in-the-environment');
  for (const { stream, data, metadata } of await accounts.recorded())
    t.notOk(Buffer.concat([data, metadata]).includes('given-in-the-environment'), stream);
});

test('a user created by a write without a reply keeps the password in the file', async (t) => {
  const { accounts, file, logsIn, holders } = await given(t);
  const { permissions, users, roleBindings, secrets, passwords } = accounts;
  let asked = 0;
  const report = await ensureAdministrator({
    permissions,
    users,
    roleBindings,
    secrets,
    passwords,
    dataDir: join(file, '..'),
    password: undefined,
    uuid: randomUUID,
    execute: async (type, command, context) => {
      asked += 1;
      // A write without a reply is retried, and finds its own result.
      if (asked === 1) await accounts.execute(type, command, context);
      return accounts.execute(type, command, context);
    },
  });
  t.equal(report.created, true);
  t.equal(await logsIn((await readFile(file, 'utf8')).trim()), true);
  t.strictSame(holders(), bound);
});
