/** Requests that need the audit indexes are refused while these are being built, and nothing else is. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import type { RecordedEvent, SubscribeOptions } from '../../src/log/log.ts';
import { openLog } from '../../src/server/open-log.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { altered } from '../support/writing.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
const lamp = `${widgets}/lamp`;
const audit = '/apis/audit.svc.run/v1alpha1';

async function write(server: TestServer, method: string, path: string, body: unknown): Promise<string> {
  const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
  const answer = await server.call(path, { method, body, headers });
  if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${await answer.text()}`);
  return ((await answer.json()) as { readonly metadata: { readonly resourceVersion: string } }).metadata
    .resourceVersion;
}

/** Asks again while the answer is 503, which must say when. */
async function served(server: TestServer, path: string, method = 'GET'): Promise<readonly [number, string]> {
  for (;;) {
    const answer = await server.call(path, { method });
    const text = await answer.text();
    if (answer.status !== 503) return [answer.status, text];
    if (!answer.headers.has('retry-after')) throw new Error(`${path}: ${text}`);
  }
}

test('every route that needs the audit indexes is 503 until these are built, and then what it was', async (t) => {
  const before = await startTestServer();
  t.teardown(async () => before.remove());
  const first = await write(before, 'POST', widgets, { metadata: { name: 'lamp' }, spec: { title: 'one' } });
  const last = await write(before, 'PATCH', lamp, { spec: { title: 'two' } });
  const [, page] = await served(before, `${audit}/events?fieldSelector=position%3D${last}`);
  const [event] = (JSON.parse(page) as { readonly items: readonly { readonly id: string }[] }).items;
  const id = event?.id ?? '';
  /** Equal before and after: none of them shows what the server itself appends meanwhile. */
  const reads = [
    `${audit}/events?fieldSelector=type%3Dwidgets.example.com`,
    `${audit}/events?fieldSelector=position%3C${last}&sort=position,desc&limit=5`,
    `${audit}/events/${last}`,
    `${lamp}?at=${first}`,
    `${lamp}?at=${new Date().toISOString()}`,
    `${widgets}?at=${first}&sort=metadata.name`,
    '/audit/tree/keys',
    '/audit/tree/tile/0/000.p/3',
    '/audit/tree/tile/entries/000.p/3',
    '/audit/tree/inclusion?index=1&size=3',
    '/audit/tree/consistency?from=1&to=3',
  ];
  const answers: (readonly [number, string])[] = [];
  for (const path of reads) answers.push(await served(before, path));
  await before.close();
  rmSync(join(before.dataDir, 'audit-models'), { recursive: true });

  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const after = await startTestServer({
    dataDir: before.dataDir,
    openLog: async (config, options) => {
      const opened = await openLog(config, options);
      const log = altered(opened.log, {
        readAll: async function* (asked: SubscribeOptions): AsyncGenerator<readonly RecordedEvent[]> {
          // The audit indexes alone read accesses.
          if (asked.categories?.includes('access') === true) await released;
          yield* opened.log.readAll(asked);
        },
      });
      return { ...opened, log };
    },
  });
  t.teardown(async () => after.close());
  const restore = `${lamp}/restore?at=${first}`;
  const inclusion = `/audit/tree/inclusion?position=${last}&id=${id}`;
  const grown = [`${audit}/export`, '/audit/tree/checkpoint', inclusion];
  for (const [method, path] of [
    ...[...reads, ...grown, `${audit}/events?watch=true`].map((path) => ['GET', path] as const),
    ['POST', restore],
    ['POST', `${audit}/replays`],
  ] as const) {
    const answer = await after.call(path, { method, ...(path.endsWith('replays') ? { body: {} } : {}) });
    const text = await answer.text();
    t.equal(answer.status, 503, `${path}: ${text}`);
    t.ok(answer.headers.has('retry-after'), path);
    t.match(text, /audit indexes|the tree/u, path);
  }
  for (const path of [lamp, widgets, `${lamp}/history`, '/readyz']) t.equal((await after.call(path)).status, 200, path);

  release();
  for (const [place, path] of reads.entries()) t.strictSame(await served(after, path), answers[place], path);
  for (const path of grown) t.equal((await served(after, path))[0], 200, path);
  t.equal((await served(after, restore, 'POST'))[0], 200);
  t.match(await (await after.call(lamp)).json(), { spec: { title: 'one' } });
});
