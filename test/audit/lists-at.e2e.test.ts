/** Over HTTP, on a real server: lists as of a position of the log. */
import { get, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { test, type Test } from 'tap';

import { systemClock, type Clock } from '../../src/base/clock.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';

type Listed = {
  readonly kind: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly total: number;
  readonly page: number;
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly resourceVersion: string;
      readonly uid: string;
      readonly creationTimestamp: string;
    };
    readonly spec: { readonly title: string; readonly size?: number };
  }[];
};

async function given(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  return server;
}

/** Returns the position of the write. */
async function write(server: TestServer, method: string, path: string, body?: unknown): Promise<string> {
  const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
  const answer = await server.call(path, { method, body, headers });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return ((await answer.json()) as Listed['items'][number]).metadata.resourceVersion;
}

async function list(server: TestServer, query = ''): Promise<Listed> {
  const answer = await server.call(`${widgets}?${query}`);
  if (answer.status !== 200) throw new Error(`${query}: ${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as Listed;
}

async function refusal(
  server: TestServer,
  path: string,
): Promise<{ readonly status: number; readonly message: string }> {
  const answer = await server.call(path);
  const { message } = (await answer.json()) as { readonly message: string };
  return { status: answer.status, message };
}

const widget = (name: string, size: number, labels: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Widget',
  metadata: { name, labels },
  spec: { title: `The ${name}`, size },
});

const namesOf = ({ items }: Listed): string => items.map(({ metadata }) => metadata.name).join();

test('a list shows the objects as they were at each position', async (t) => {
  let server = await startTestServer();
  t.teardown(() => server.remove());
  const states: Listed[] = [];
  const remember = async (): Promise<void> => {
    states.push(await list(server));
  };
  for (const [number, name] of ['ball', 'lamp', 'rope', 'kite'].entries()) {
    await write(server, 'POST', widgets, widget(name, number, { row: String(number % 2) }));
    await remember();
  }
  await write(server, 'PATCH', `${widgets}/lamp`, { spec: { size: 9 } });
  await remember();
  await write(server, 'DELETE', `${widgets}/ball`);
  await remember();
  await write(server, 'POST', widgets, widget('ball', 7));
  await remember();
  for (const state of states) t.same(await list(server, `at=${state.metadata.resourceVersion}`), state);
  server = await server.restart();
  for (const state of states) t.same(await list(server, `at=${state.metadata.resourceVersion}`), state);
  const [, , , four] = states;
  const at = `at=${four!.metadata.resourceVersion}`;
  t.equal(namesOf(await list(server, `${at}&labelSelector=row%3D1&sort=metadata.name`)), 'kite,lamp');
  t.equal(namesOf(await list(server, `${at}&sort=metadata.name,desc&page=2&size=3`)), 'ball');
  t.equal(namesOf(await list(server, `${at}&fieldSelector=metadata.name%5E%3Dl`)), 'lamp');
});

test('a list at a time shows the objects of that time', async (t) => {
  const server = await given(t);
  await write(server, 'POST', widgets, widget('lamp', 1));
  const created = await list(server);
  const time = created.items[0]!.metadata.creationTimestamp;
  while (Date.now() <= Date.parse(time)) await nextTurn();
  await write(server, 'DELETE', `${widgets}/lamp`);
  const then = await list(server, `at=${encodeURIComponent(time)}`);
  t.same(then.items, created.items);
});

test('a chain of pages shows one position, whatever is written meanwhile', async (t) => {
  const server = await given(t);
  let at = '';
  for (let number = 0; number < 7; number += 1)
    at = await write(server, 'POST', widgets, widget(`w${String(number)}`, number));
  const query = `at=${at}&sort=metadata.name&limit=3`;
  const first = await list(server, query);
  t.match(first, { metadata: { resourceVersion: at, remainingItemCount: 4 }, total: 7, page: 1 });
  for (let number = 0; number < 7; number += 1) await write(server, 'DELETE', `${widgets}/w${String(number)}`);
  const token = first.metadata.continue ?? '';
  const second = await list(server, `${query}&continue=${token}`);
  const third = await list(server, `${query}&continue=${second.metadata.continue ?? ''}`);
  t.equal([first, second, third].map(namesOf).join(), 'w0,w1,w2,w3,w4,w5,w6');
  t.equal(third.metadata.resourceVersion, at);
  t.equal(third.metadata.continue, undefined);
  for (const other of [
    `sort=metadata.name&limit=3`,
    `at=${String(Number(at) - 1)}&sort=metadata.name&limit=3`,
    `at=${at}&limit=3`,
  ])
    t.match(await refusal(server, `${widgets}?${other}&continue=${token}`), {
      status: 400,
      message: /not a token of this/u,
    });
});

test('ages in a table are those of the moment', async (t) => {
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const server = await startTestServer({ clock });
  t.teardown(() => server.remove());
  await write(server, 'POST', widgets, widget('lamp', 1));
  aheadMs = 600_000;
  const at = await write(server, 'POST', widgets, widget('shelf', 1));
  aheadMs = 6_000_000;
  const time = new Date(clock.now() - 3_000_000).toISOString();
  const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
  for (const [moment, age] of [
    [at, '10m'],
    [time, '50m'],
  ] as const) {
    const answer = await server.call(`${widgets}?at=${moment}&fieldSelector=metadata.name=lamp`, { headers });
    const { rows } = (await answer.json()) as { readonly rows: readonly { readonly cells: readonly unknown[] }[] };
    t.equal(rows[0]?.cells.at(-1), age, moment);
  }
});

test('tables, bare metadata and YAML show the past as well', async (t) => {
  const server = await given(t);
  const at = await write(server, 'POST', widgets, widget('lamp', 1));
  await write(server, 'DELETE', `${widgets}/lamp`);
  const as = async (accept: string): Promise<string> => {
    const answer = await server.call(`${widgets}?at=${at}`, { headers: { accept } });
    t.equal(answer.status, 200, accept);
    return answer.text();
  };
  const table = JSON.parse(await as('application/json;as=Table;g=meta.k8s.io;v=v1')) as { readonly kind: string };
  t.match(table, {
    kind: 'Table',
    metadata: { resourceVersion: at },
    rows: [{ object: { metadata: { name: 'lamp' } } }],
  });
  t.match(
    await as('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'),
    /"kind":"PartialObjectMetadataList"/u,
  );
  t.match(await as('application/yaml'), /name: lamp/u);
});

test('a position that cannot be shown is refused with its reason', async (t) => {
  const server = await given(t);
  const at = await write(server, 'POST', widgets, widget('lamp', 1));
  const beyond = String(Number(at) + 1_000_000);
  const refused: readonly (readonly [query: string, status: number, message: RegExp])[] = [
    [`at=${beyond}`, 400, /^at: \d+ is beyond the end of the log, \d+$/u],
    ['at=0', 400, /^at: 0 is before the log’s first event$/u],
    ['at=', 400, /^at: must be one position/u],
    ['at=-1', 400, /^at: must be one position/u],
    ['at=lately', 400, /^at: must be one position of the log.*"lately"$/u],
    [`at=${'9'.repeat(60)}`, 400, /^at: must be one position/u],
    ['at=10000000000000000001', 410, /^at: 10000000000000000001 belongs to another epoch/u],
    [`at=${at}&at=${at}`, 400, /^at: must be one position/u],
    [`at=${at}&resourceVersion=${at}`, 400, /^at cannot be combined with resourceVersion$/u],
    ['at=2222-02-02T00:00:00Z', 400, /^at: 2222.* is in the future$/u],
    ['at=1999-01-01T00:00:00Z', 400, /^at: 1999.* is before the log’s first event$/u],
    [`At=${at}`, 400, /did you mean "at"\?/u],
    [
      `at=${at}&watch=true`,
      400,
      /^at: a watch does not support this parameter; to start the watch after a position, set/u,
    ],
  ];
  for (const [query, status, message] of refused)
    t.match(await refusal(server, `${widgets}?${query}`), { status, message }, query);
  t.match(await refusal(server, `/apis/example.com/v1alpha1/gadgets?at=${at}`), { status: 404 });
  const deletion = await server.call(`${widgets}?at=${at}`, { method: 'DELETE' });
  t.equal(deletion.status, 400, 'the past is not deleted');
  t.equal((await list(server)).total, 1);
});

test('a client that leaves a long list of the past is no error', async (t) => {
  const errors: string[] = [];
  const write = (line: string): void => {
    if ((JSON.parse(line) as { readonly level: number }).level >= 50) errors.push(line);
  };
  const server = await startTestServer({ logLines: { write } });
  t.teardown(() => server.remove());
  const note = 'x'.repeat(250_000);
  for (let number = 0; number < 80; number += 1) {
    const { metadata, ...rest } = widget(`w${String(number)}`, number);
    const body = { ...rest, metadata: { ...metadata, annotations: { note } } };
    t.equal((await server.call(widgets, { method: 'POST', body })).status, 201);
  }
  const { metadata } = await list(server, 'limit=1');
  const { socket } = await new Promise<IncomingMessage>((resolve, reject) => {
    const url = `${server.url}${widgets}?at=${metadata.resourceVersion}`;
    get(url, { headers: { authorization: adminAuthorization } }, resolve).on('error', reject);
  });
  await new Promise((resolve) => socket.once('close', resolve).destroy());
  await server.close();
  t.strictSame(errors, []);
});
