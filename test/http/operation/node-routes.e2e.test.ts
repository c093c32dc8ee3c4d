/** The routes of nodes and samples, on a real server with one node. */
import { hostname } from 'node:os';
import { test } from 'tap';

import { sampleMs } from '../../../src/limits/requests.ts';
import { ask } from '../../support/ask.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { StoppedTime } from '../../support/clocks/stopped-time.ts';

type Nodes = { readonly items: readonly { readonly position: string }[] };

const root = '/apis/api.console.svc.run/v1alpha1';

test('a single node lists itself as the leader', async (t) => {
  const { server, clock } = await StoppedTime.start(t);
  const before = (await (await server.call(`${root}/nodes`)).json()) as Nodes;
  t.match(await (await server.call(`${root}/nodes`)).json(), {
    node: /^[0-9a-f-]{36}$/u,
    items: [
      {
        host: hostname(),
        version: /^\d+\.\d+\.\d+/u,
        since: /^2026-01-01T00:00:/u,
        position: /^\d+$/u,
        lastSeen: new Date(clock.now()).toISOString(),
        isLive: true,
        isLeader: true,
      },
    ],
  });
  const { metadata } = (await (
    await server.call('/api/v1alpha1/users', { method: 'POST', body: { metadata: { name: 'jane' }, spec: {} } })
  ).json()) as { readonly metadata: { readonly resourceVersion: string } };
  const after = (await (await server.call(`${root}/nodes`)).json()) as Nodes;
  t.ok(BigInt(after.items[0]?.position ?? 0) >= BigInt(metadata.resourceVersion));
  t.ok(BigInt(metadata.resourceVersion) > BigInt(before.items[0]?.position ?? 0));
});

test('samples show the requests and the events of the last intervals', async (t) => {
  const { server, clock } = await StoppedTime.start(t);
  clock.advance(sampleMs);
  const made = await server.call('/api/v1alpha1/users', {
    method: 'POST',
    body: { metadata: { name: 'jane' }, spec: {} },
  });
  t.equal(made.status, 201);
  t.equal((await server.call('/api/v1alpha1/users/nobody')).status, 404);
  clock.advance(sampleMs);
  const { time, position, values } = (await (await server.call(`${root}/samples`)).json()) as {
    readonly time: readonly number[];
    readonly position: readonly string[];
    readonly values: Readonly<Record<string, readonly (number | null)[]>>;
  };
  t.equal(time.at(-1), clock.now());
  t.equal(position.length, time.length);
  t.ok((values['requests2xxPerSecond']?.at(-1) ?? 0) >= 0.1);
  t.ok((values['requests4xxPerSecond']?.at(-1) ?? 0) >= 0.1);
  t.ok((values['eventsPerSecond']?.at(-1) ?? 0) > 0);
  t.equal(values['requests5xxPerSecond']?.at(-1), 0);
  t.ok((values['rssBytes']?.at(-1) ?? 0) > 1e7);
  t.equal(values['lag']?.at(-1), 0);
});

test('operators read nodes and samples by a role template, other users do not', async (t) => {
  const { server } = await StoppedTime.start(t);
  const administration = new Administration(server.url);
  for (const name of ['jane', 'joe']) await administration.user(name);
  await administration.bind('janes', 'role-template-view-operation', 'jane');
  for (const path of [`${root}/nodes`, `${root}/samples`]) {
    const statuses = [];
    for (const headers of [as('jane'), as('joe'), {}]) statuses.push((await ask(server.url, path, { headers })).status);
    t.strictSame(statuses, [200, 403, 401], path);
  }
});
