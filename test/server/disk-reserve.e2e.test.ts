import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';
import type { Test } from 'tap';

import { scarceLogIns } from '../../src/limits/disk.ts';
import { smallDisk, noSmallDisk, type SmallDisk } from '../support/server/small-disk.ts';
import { adminAuthorization, startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { tellerPackage } from '../packages/teller-package.ts';

const mebibyte = 1_048_576;
const widgets = '/apis/example.com/v1alpha1/widgets';
const merge = { 'content-type': 'application/merge-patch+json' };

type Given = {
  readonly disk: SmallDisk;
  readonly server: TestServer;
  readonly untilLogged: (words: string) => Promise<void>;
  readonly count: (words: string) => number;
};

/** A server on a disk of its own, of which 16 MiB are reserved. */
async function given(t: Test, environment: Readonly<Record<string, string>> = {}): Promise<Given> {
  const disk = smallDisk(t, 96 * mebibyte);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const logLines = {
    write: (line: string): void => {
      lines.push(line);
      for (const look of waiting) look();
    },
  };
  const settings = { DISK_RESERVE: '16MiB', ...environment };
  const server = await startTestServer({ dataDir: join(disk.dir, 'data'), environment: settings, logLines });
  t.teardown(async () => server.close());
  const count = (words: string): number => lines.filter((line) => line.includes(words)).length;
  const untilLogged = async (words: string): Promise<void> => {
    const before = count(words);
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (count(words) === before) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
    });
  };
  return { disk, server, untilLogged: untilLogged, count };
}

async function nearlyFull({ disk, untilLogged }: Given): Promise<void> {
  const begun = untilLogged('the disk is nearly full');
  disk.fill(12 * mebibyte);
  await begun;
}

async function create(server: TestServer, name: string, more: object = {}): Promise<Response> {
  return server.call(widgets, { method: 'POST', body: { metadata: { name, ...more }, spec: { title: name } } });
}

async function patch(server: TestServer, path: string, body: unknown): Promise<Response> {
  return server.call(`${widgets}/${path}`, { method: 'PATCH', headers: merge, body });
}

async function refused(t: Test, answering: Promise<Response>, what: string): Promise<void> {
  const response = await answering;
  const body = await response.text();
  t.equal(response.status, 507, `${what}: ${body}`);
  t.match(body, /"reason":"InsufficientStorage"/u, what);
  t.equal(response.headers.get('retry-after'), '30', what);
}

async function freeBytes(server: TestServer): Promise<number> {
  const metrics = await (await server.call('/metrics')).text();
  return Number(/^ledgerplane_disk_free_bytes (\d+)$/mu.exec(metrics)?.[1]);
}

async function isDeleted(server: TestServer, name: string): Promise<boolean> {
  const watch = await server.call(`${widgets}?watch=true&resourceVersion=1&fieldSelector=metadata.name%3D${name}`);
  for await (const chunk of watch.body ?? []) if (Buffer.from(chunk as Uint8Array).includes('"DELETED"')) return true;
  return false;
}

const options = noSmallDisk === undefined ? {} : { skip: noSmallDisk };

test(
  'below the reserve writes of clients and super administrators are refused until space is freed',
  options,
  async (t) => {
    const stage = await given(t);
    const { server, disk, untilLogged, count } = stage;
    t.equal((await create(server, 'held', { finalizers: ['example.com/hold'] })).status, 201);
    await nearlyFull(stage);
    await refused(t, create(server, 'new'), 'create');
    const body = { metadata: { name: 'dry' }, spec: { title: 'x' } };
    await refused(t, server.call(`${widgets}?dryRun=All`, { method: 'POST', body }), 'dry run');
    await refused(t, patch(server, 'held', { spec: { title: 'y' } }), 'patch');
    await refused(
      t,
      patch(server, 'held', { metadata: { finalizers: null } }),
      'a finalizer of an object that is not marked',
    );
    const whole = {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Widget',
      metadata: { name: 'held' },
      spec: { title: 'y' },
    };
    await refused(t, server.call(`${widgets}/held`, { method: 'PUT', body: whole }), 'put');
    await refused(t, patch(server, 'held/status', { status: { phase: 'Ready' } }), 'status');
    const user = { metadata: { name: 'jane' }, spec: { password: 'a long secret' } };
    await refused(t, server.call('/api/v1alpha1/users', { method: 'POST', body: user }), 'a user');
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(tellerPackage('1.0.0'))]), 'p.tgz');
    const upload = { method: 'POST', body: form, headers: { authorization: adminAuthorization } };
    await refused(t, fetch(`${server.url}/apis/api.console.svc.run/v1alpha1/plugins/install`, upload), 'a package');
    t.equal(count('the disk is nearly full'), 1, 'reported once');

    const again = untilLogged('enough free space again');
    disk.clear();
    await again;
    t.equal((await create(server, 'new')).status, 201);
  },
);

test('below the reserve reads, deletions and log-ins continue, and the node stays ready', options, async (t) => {
  const stage = await given(t);
  const { server } = stage;
  for (const name of ['plain', 'one', 'two']) t.equal((await create(server, name)).status, 201);
  t.equal((await create(server, 'held', { finalizers: ['example.com/hold'] })).status, 201);
  await nearlyFull(stage);
  t.equal((await server.call(`${widgets}/plain`)).status, 200);
  t.equal((await server.call(widgets)).status, 200);
  t.equal((await server.call('/readyz')).status, 200);
  t.equal((await server.call(`${widgets}/plain`, { method: 'DELETE' })).status, 200);
  t.ok(await isDeleted(server, 'plain'), 'the platform collects it');
  t.equal((await server.call(`${widgets}/held`, { method: 'DELETE' })).status, 200);
  const annotations = { 'example.com/text': 'x'.repeat(1_000) };
  await refused(t, patch(server, 'held', { metadata: { finalizers: null, annotations } }), 'the object grows');
  await refused(t, patch(server, 'held', { spec: { title: 'z' } }), 'a marked object that keeps its finalizers');
  t.equal((await patch(server, 'held', { metadata: { finalizers: null } })).status, 200);
  t.ok(await isDeleted(server, 'held'));
  t.equal((await server.call(widgets, { method: 'DELETE' })).status, 200);
  t.ok(await isDeleted(server, 'two'));
  const credentials = { username: 'admin', password: testPassword };
  const logIn = await server.call('/login', { method: 'POST', body: credentials });
  t.equal(logIn.status, 200, await logIn.text());
  t.match(await (await server.call('/metrics')).text(), /^ledgerplane_disk_reserve_bytes 16777216$/mu);
  const free = await freeBytes(server);
  t.ok(free > 0 && free < 16 * mebibyte, String(free));
});

test('below half of the reserve super administrators log in, a few times, and others do not', options, async (t) => {
  const stage = await given(t);
  const { server, disk, untilLogged } = stage;
  const jane = { username: 'jane', password: 'a long secret' };
  const user = { metadata: { name: jane.username }, spec: { password: jane.password } };
  t.equal((await server.call('/api/v1alpha1/users', { method: 'POST', body: user })).status, 201);
  t.equal((await create(server, 'plain')).status, 201);
  const begun = untilLogged('the disk is nearly full');
  disk.fill(6 * mebibyte);
  await begun;
  const headers = { 'content-type': 'application/json' };
  const logIn = async (pair: object): Promise<Response> =>
    fetch(`${server.url}/login`, { method: 'POST', headers, body: JSON.stringify(pair) });
  await refused(t, logIn(jane), 'a user without the right to free space');
  const authorization = `Basic ${Buffer.from(`${jane.username}:${jane.password}`).toString('base64')}`;
  const own = await server.call('/apis/uc.api.svc.run/v1alpha1/users/-', { headers: { authorization } });
  t.equal(own.status, 200, 'by Basic');
  const admin = { username: 'admin', password: testPassword };
  const first = await logIn(admin);
  t.equal(first.status, 200);
  const { csrfToken } = (await first.json()) as { readonly csrfToken: string };
  const cookie = first.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const deletion = { method: 'DELETE', headers: { cookie, 'x-csrf-token': csrfToken } };
  t.equal((await fetch(`${server.url}${widgets}/plain`, deletion)).status, 200, 'which makes room');
  for (let index = 1; index < scarceLogIns.burst; index += 1) t.equal((await logIn(admin)).status, 200);
  await refused(t, logIn(admin), 'one log-in too many');
});

test('a first start below the reserve loads the bundled plugins', options, async (t) => {
  const disk = smallDisk(t, 96 * mebibyte);
  disk.fill(12 * mebibyte);
  const server = await startTestServer({ dataDir: join(disk.dir, 'data'), environment: { DISK_RESERVE: '16MiB' } });
  t.teardown(async () => server.close());
  const answer = await server.call('/apis/plugin.svc.run/v1alpha1/plugins');
  type Plugin = { readonly metadata: { readonly name: string }; readonly status: { readonly phase: string } };
  const { items } = (await answer.json()) as { readonly items: readonly Plugin[] };
  t.ok(items.length > 0);
  t.strictSame(
    items.filter(({ status }) => status.phase !== 'started').map(({ metadata }) => metadata.name),
    [],
  );
  t.equal((await server.call(widgets)).status, 200);
  await refused(t, create(server, 'new'), 'clients are refused all the same');
});

test('a burst between two measurements does not use up the reserve', options, async (t) => {
  const { disk, server } = await given(t);
  disk.fill(20 * mebibyte);
  // What another program takes is noticed by the next look, not before.
  while ((await freeBytes(server)) > 21 * mebibyte);
  const annotations = { 'example.com/text': 'x'.repeat(250_000) };
  const write = async (place: number): Promise<number> =>
    (await create(server, `w${String(place)}`, { annotations })).status;
  const statuses = await Promise.all(Array.from({ length: 120 }, async (_, index) => write(index)));
  t.same(
    statuses.filter((status) => status !== 201 && status !== 507),
    [],
  );
  t.ok(statuses.includes(507));
  t.ok(disk.freeBytes() > 15 * mebibyte, String(disk.freeBytes()));
});

test('with a reserve of 0 writes are accepted as long as there is space', options, async (t) => {
  const { disk, server } = await given(t, { DISK_RESERVE: '0' });
  disk.fill(4 * mebibyte);
  t.equal((await create(server, 'new')).status, 201);
  t.match(readFileSync(join(disk.dir, 'data', 'read-models', 'use.json'), 'utf8'), /format/u);
});
