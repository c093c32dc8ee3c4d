/** Backups of a running server, and a server on a restored one. */
import { cp, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { noteSigner, verifierKeyOf, verifierKeyText } from '../../src/audit/proof/signed-note.ts';
import { verifiedRecords } from '../../src/server/backup/verify-backup.ts';
import { startEventStore } from '../support/eventstore/eventstore.ts';
import { Administration, as } from '../support/server/administration.ts';
import { runCommand } from '../support/server/command-run.ts';
import { noSmallDisk, smallDisk } from '../support/server/small-disk.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { backUp, backupsPath, eventsIn, filesOf, folder, makeRoles, rolesPath } from './backup-stage.ts';

async function given(
  t: Test,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly server: TestServer; readonly dir: string }> {
  const dir = await folder(t);
  const server = await startTestServer({
    environment: { BACKUP_DIR: dir, WRITES_PER_USER: '0', WRITE_BYTES_PER_USER: '0', ...environment },
  });
  t.teardown(async () => server.remove());
  return { server, dir };
}

const settingsOf = (server: TestServer): Record<string, string> => ({
  LEDGERPLANE_SERVER: server.url,
  LEDGERPLANE_PASSWORD: testPassword,
});

test('backups under load have every write that was acknowledged before they began', async (t) => {
  const { server, dir } = await given(t);
  let isOver = false;
  const acknowledged: string[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      const name = `r-${String(writer)}-${String(turn)}`;
      await makeRoles(server, [name], 1_000);
      acknowledged.push(name);
    }
  };
  const writers = Promise.all([1, 2, 3, 4].map(write));
  let [path, position] = ['', 0];
  for (let number = 1; number <= 4; number += 1) {
    const before = acknowledged.length;
    while (acknowledged.length < before + 20) await server.call('/livez');
    const settled = [...acknowledged];
    const { status, last } = await backUp(server);
    t.match({ status, last }, { status: 200, last: { kind: 'Result', written: true, number, tree: { signed: true } } });
    path = String(last['folder']);
    const records = [...verifiedRecords(path, [])];
    const streams = new Set(records.map(({ event }) => event.stream.slice(event.stream.lastIndexOf('/') + 1)));
    t.strictSame(
      settled.filter((name) => !streams.has(name)),
      [],
    );
    t.ok(Number(last['position']) > position);
    position = Number(last['position']);
  }
  isOver = true;
  await writers;

  t.match((await backUp(server)).last, { written: true });
  t.match((await backUp(server)).last, { written: false, events: 0, bytes: 0 });
  const full = await backUp(server, { name: 'full' });
  t.match(full.last, { written: true, number: 1 });
  const contents = (name: string): readonly string[] =>
    [...verifiedRecords(name, [])].map(({ bytes }) => bytes.toString('hex'));
  t.strictSame(contents(path), contents(join(dir, 'full')), 'increments equal a full backup');
  await server.close();
  t.strictSame(
    [...verifiedRecords(path, [])].map(({ event }) => event.id),
    (await eventsIn(join(server.dataDir, 'log'))).slice(0, contents(path).length).map(({ id }) => id),
  );
});

test('a restored server has the same objects, passwords and tokens, in a new epoch with its own key', async (t) => {
  const { server, dir } = await given(t);
  await makeRoles(server, ['kept']);
  await new Administration(server.url).user('jane');
  const token = await runCommand(['token', 'create', '--user', 'admin'], { variables: settingsOf(server) });
  t.equal(token.code, 0, token.err);
  const [before, keys] = [await listed(server), await keysOf(server)];
  const made = await runCommand(['backup', '--user', 'admin', '--name', 'nightly'], { variables: settingsOf(server) });
  t.match(made, { code: 0, out: /nightly\nbackup 1: \d+ events, .*, verified\n.*\nthe checkpoint .* is signed\n$/u });
  await makeRoles(server, ['lost']);
  await server.close();

  const dataDir = join(dir, 'restored');
  const variables = { DATA_DIR: dataDir };
  const path = join(dir, 'nightly');
  t.match(await runCommand(['backup', 'verify', path, '--key', keys], { variables }), {
    code: 0,
    out: /^verified: \d+ events in 1 backup, .*signed by a given key\n$/su,
  });
  const missing = join(dir, 'missing');
  t.match(await runCommand(['backup', 'verify', missing]), { code: 2, err: `: ${missing} cannot be read (ENOENT)\n` });
  const stranger = verifierKeyText(verifierKeyOf(noteSigner('svc.run/other', Buffer.alloc(32, 9))));
  t.match(await runCommand(['restore', path, '--key', stranger], { variables }), {
    code: 2,
    err: /nightly cannot be verified with these keys: .*the key is of another server/u,
  });
  t.match(await runCommand(['restore', path], { variables: { ...variables, PLATFORM_DOMAIN: 'example.org' } }), {
    code: 2,
    err: /the backup belongs to PLATFORM_DOMAIN svc\.run, but the settings have example\.org/u,
  });
  t.notOk((await readdir(dir)).includes('restored'), 'a refused restore leaves nothing');
  const restored = await runCommand(['restore', path, '--key', keys], { variables });
  t.match(restored, { code: 0, out: /epoch 1 begins\n$/u }, restored.err);
  t.strictSame(await readdir(dataDir), ['log'], 'and no key');
  t.match(await runCommand(['restore', path], { variables }), { code: 2, err: /is not empty: the folder has "log"/u });

  const two = await startTestServer({ dataDir, environment: { BACKUP_DIR: dir } });
  t.teardown(async () => two.close());
  const after = await listed(two);
  t.strictSame(after.roles, before.roles);
  const atLeast = `${rolesPath}?resourceVersion=${before.version}&resourceVersionMatch=NotOlderThan`;
  t.equal((await two.call(atLeast)).status, 410, 'positions of the epoch before are gone');
  const whoAmI = '/apis/uc.api.svc.run/v1alpha1/users/-';
  t.equal((await two.call(whoAmI, { headers: as('jane') })).status, 200, 'her password counts');
  const bearer = { authorization: `Bearer ${token.out.trim()}` };
  t.equal((await two.call(whoAmI, { headers: bearer })).status, 200, 'the token counts');
  const keysNow = await keysOf(two);
  t.not(keysNow, keys, 'its key is another');
  t.match(await runCommand(['backup', 'verify', path, '--key', keysNow], { variables }), {
    code: 2,
    err: /nightly cannot be verified with these keys: the checkpoint of manifest-0000001\.json is signed by the key/u,
  });
  t.match((await backUp(two)).last, { written: true, number: 1, tree: { signed: true } }, 'a folder of its own');
  const position = /^1000000000000000\d{4}$/u;
  t.match((await backUp(two)).last, { position }, 'the position has the epoch');
  const again = await runCommand(['backup', '--user', 'admin', '--name', 'again'], { variables: settingsOf(two) });
  t.match(again, { code: 0, out: /^up to position 1000000000000000\d{4}, /mu });
  const verified = await runCommand(['backup', 'verify', join(dir, 'again')], { variables });
  t.match(verified, { code: 0, out: /up to position 1000000000000000\d{4}$/mu });
  const refused = { status: 409, last: { message: /nightly has backups of epoch 0 .* choose another name/u } };
  t.match(await backUp(two, { name: 'nightly' }), refused);
  await two.close();
  const epochs = (await eventsIn(join(dataDir, 'log'))).filter(({ type }) => type === 'EpochStarted');
  const { reason, before: tree } = JSON.parse(Buffer.from(epochs.at(-1)?.data ?? '').toString()) as {
    readonly reason: string;
    readonly before: { readonly size: number; readonly root: string };
  };
  t.equal(reason, 'restored');
  t.match(made.out, `${String(tree.size)} leaves with root ${tree.root}\n`, 'it names the tree of the backup');
});

async function listed(server: TestServer): Promise<{ readonly version: string; readonly roles: readonly unknown[] }> {
  const { metadata, items } = (await (await server.call(rolesPath)).json()) as {
    readonly metadata: { readonly resourceVersion: string };
    readonly items: readonly { readonly metadata: object }[];
  };
  const roles = items.map((item) => ({ ...item, metadata: { ...item.metadata, resourceVersion: '' } }));
  return { version: metadata.resourceVersion, roles };
}

async function keysOf(server: TestServer): Promise<string> {
  const { items } = (await (await server.call('/audit/tree/keys')).json()) as {
    readonly items: readonly { readonly verifierKey: string }[];
  };
  return items.at(-1)?.verifierKey ?? '';
}

test('the commands say why a backup is not signed: this server has signed another log', async (t) => {
  const { server, dir } = await given(t);
  const logDir = join(server.dataDir, 'log');
  await server.close();
  await cp(logDir, join(dir, 'earlier'), { recursive: true });
  const grown = await startTestServer({ dataDir: server.dataDir, environment: { BACKUP_DIR: dir } });
  await makeRoles(grown, ['lost']);
  t.match((await backUp(grown)).last, { tree: { signed: true }, unsigned: undefined });
  await grown.close();
  for (const lost of ['log', 'read-models', 'audit-models']) await rm(join(server.dataDir, lost), { recursive: true });
  await rename(join(dir, 'earlier'), logDir);
  const rolledBack = await startTestServer({ dataDir: server.dataDir, environment: { BACKUP_DIR: dir } });
  t.teardown(async () => rolledBack.close());
  await makeRoles(rolledBack, ['other']);
  const text = /^no checkpoint of this tree is signed: .*this node has signed \d+ leaves with the root/mu;
  const variables = settingsOf(rolledBack);
  const made = await runCommand(['backup', '--user', 'admin', '--name', 'one'], { variables });
  t.match(made, { code: 0, out: text }, made.err);
  t.match(await runCommand(['backup', 'verify', join(dir, 'one')]), { code: 0, out: text });
  t.match(await runCommand(['backup', '--user', 'admin'], { variables }), { code: 1, err: /before a restore/u });
});

test('requests that cannot be served are refused, and nothing is written', async (t) => {
  const { server, dir } = await given(t);
  await mkdir(join(dir, 'photos'));
  await writeFile(join(dir, 'photos', 'cat.jpg'), 'a cat');
  await mkdir(join(dir, 'target'));
  await symlink('target', join(dir, 'link'));
  await writeFile(join(dir, 'file'), 'a file');
  const long = 'n'.repeat(101);
  const cases: readonly (readonly [body: object, status: number, message: RegExp])[] = [
    ...['..', '.', '', 'a/b', '../b', 'a\\b', '.hidden', 'a\0b', '-a', long, 'a.'].map(
      (name) => [{ name }, 400, /the name of a backup must have 1 to 100 letters/u] as const,
    ),
    [{ name: 7 }, 400, /name must be a string/u],
    [{ folder: '/tmp' }, 400, /the body has the unknown member "folder"/u],
    [{ name: 'photos' }, 409, /is not a folder of backups, since it contains "cat\.jpg"/u],
    [{ name: 'link' }, 409, /link is not a folder/u],
    [{ name: 'file' }, 409, /file is not a folder/u],
  ];
  for (const [body, status, message] of cases)
    t.match(await backUp(server, body), { status, last: { message } }, JSON.stringify(body));
  t.strictSame((await readdir(dir)).sort(), ['file', 'link', 'photos', 'target']);
  t.strictSame(await readdir(join(dir, 'target')), []);
  await new Administration(server.url).user('jane');
  t.equal((await server.call(backupsPath, { method: 'POST', body: {}, headers: as('jane') })).status, 403);
  t.match((await backUp(server)).last, { written: true }, 'the next backup is served');
});

test('without BACKUP_DIR, without its folder and over EventStoreDB the answer says what to do', async (t) => {
  const { server: none } = await given(t, { BACKUP_DIR: '' });
  t.match(await backUp(none), { status: 404, last: { message: /not set up: set BACKUP_DIR to a folder/u } });
  const command = await runCommand(['backup', '--user', 'admin'], { variables: settingsOf(none) });
  t.match(command, { code: 1, err: /set BACKUP_DIR to a folder/u });
  const missing = join(await folder(t), 'missing');
  const { server: unmounted } = await given(t, { BACKUP_DIR: missing });
  t.match(await backUp(unmounted), { status: 404, last: { message: /missing is not a folder: create it, or mount/u } });
  const store = await startEventStore();
  t.teardown(async () => store.stop());
  const { server: remote } = await given(t, { EVENT_LOG: store.url });
  t.match(await backUp(remote), { status: 404, last: { message: /EventStoreDB, which has its own backup: copy/u } });
});

test('one backup runs at a time, and a client that leaves ends its own', async (t) => {
  const { server, dir } = await given(t);
  await makeRoles(
    server,
    Array.from({ length: 100 }, (_, index) => `r-${String(index)}`),
    50_000,
  );
  const answers = await Promise.all(Array.from({ length: 6 }, () => backUp(server, { name: 'one' })));
  t.ok(answers.every(({ status }) => status === 200 || status === 429));
  t.ok(answers.some(({ status }) => status === 200));
  const leaving = new AbortController();
  const request = { method: 'POST', body: '{}', signal: leaving.signal };
  const headers = { authorization: `Basic ${btoa(`admin:${testPassword}`)}`, 'content-type': 'application/json' };
  const { status } = await fetch(`${server.url}${backupsPath}`, { ...request, headers });
  t.equal(status, 200);
  leaving.abort();
  let last = await backUp(server);
  while (last.status === 429) last = await backUp(server);
  t.match(last, { status: 200, last: { number: 1 } }, 'made now, or before the client left');
  const left = (await readdir(String(last.last['folder']))).filter((name) => name.endsWith('.part'));
  t.strictSame(left, []);
  t.strictSame((await readdir(dir)).length, 2);
});

const disk = noSmallDisk === undefined ? {} : { skip: noSmallDisk };
test('on a disk without room a backup is refused or fails, and what is there stays valid', disk, async (t) => {
  const small = smallDisk(t, 8 * 1_048_576);
  const { server } = await given(t, { BACKUP_DIR: small.dir, DISK_RESERVE: '0' });
  t.match((await backUp(server, { name: 'one' })).last, { written: true });
  const path = join(small.dir, 'one');
  const before = await filesOf(path);
  await makeRoles(
    server,
    Array.from({ length: 40 }, (_, index) => `r-${String(index)}`),
    100_000,
  );
  small.fill(1_048_576);
  t.match(await backUp(server, { name: 'one' }), { status: 507, last: { message: /not enough free disk space/u } });
  t.strictSame(await filesOf(path), before);
  t.match(await backUp(server, { name: 'two' }), { status: 507, last: { message: /the backup needs about [4-9]/u } });
  t.notOk((await readdir(small.dir)).includes('two'), 'a refused backup leaves no folder');
  small.clear();
  t.match((await backUp(server, { name: 'one' })).last, { written: true, number: 2 });
  t.ok([...verifiedRecords(path, [])].length > 40);
});
