import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import type { Test } from 'tap';

import { encodeEvent } from '../../src/log/event-codec.ts';
import { platformStream } from '../../src/log/founded-log.ts';
import { openEventStoreLog } from '../../src/log/eventstore/eventstore-log.ts';
import { streamName, type EventLog, type ExpectedRevision } from '../../src/log/log.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { DomainEvent } from '../../src/command/event.ts';
import { selfSignedCertificate } from '../support/eventstore/certificate.ts';
import { startEventStore, type EventStore } from '../support/eventstore/eventstore.ts';
import { appended } from '../support/memory/log-events.ts';
import {
  adminAuthorization,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
const widget = (name: string) => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Widget',
  metadata: { name },
  spec: { title: name },
});

async function storeFor(t: Test): Promise<EventStore> {
  const store = await startEventStore();
  t.teardown(async () => store.stop());
  return store;
}

async function serverOn(t: Test, store: EventStore, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer({ ...options, environment: { EVENT_LOG: store.url, ...options.environment } });
  t.teardown(async () => server.remove());
  return server;
}

/** Asks until the condition holds: changes elsewhere are not notified here. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end;) {
    if (await holds()) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  throw new Error('it never came to hold');
}

async function textOf(url: string, path: string): Promise<string> {
  const response = await fetch(`${url}${path}`);
  return `${String(response.status)} ${await response.text()}`;
}

/** Frames of a watch, as they come. */
async function watch(
  t: Test,
  server: TestServer,
  query: string,
): Promise<{
  readonly status: number;
  readonly frames: { readonly type: string; readonly object: { readonly metadata: { readonly name?: string } } }[];
  readonly isEnded: () => boolean;
}> {
  const stop = new AbortController();
  t.teardown(() => {
    stop.abort();
  });
  const response = await fetch(`${server.url}${widgets}?watch=true&${query}`, {
    headers: { authorization: adminAuthorization },
    signal: stop.signal,
  });
  const frames: Awaited<ReturnType<typeof watch>>['frames'] = [];
  let ended = false;
  void (async () => {
    let rest = '';
    for await (const chunk of response.body!) {
      const lines = (rest + Buffer.from(chunk as Uint8Array).toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') frames.push(JSON.parse(line) as (typeof frames)[number]);
    }
    ended = true;
  })().catch(() => {
    ended = true;
  });
  return { status: response.status, frames, isEnded: () => ended };
}

test('while the log is unavailable reads, watches and log-ins continue, and writes get a Retry-After', async (t) => {
  const store = await storeFor(t);
  const server = await serverOn(t, store);
  const made = await server.call(widgets, { method: 'POST', body: widget('before') });
  t.equal(made.status, 201);
  const {
    metadata: { resourceVersion },
  } = (await made.json()) as { readonly metadata: { readonly resourceVersion: string } };
  t.equal((await server.call(widgets, { method: 'POST', body: widget('second') })).status, 201);
  const token = (await (
    await server.call('/api/v1alpha1/personalaccesstokens', {
      method: 'POST',
      body: { metadata: { name: 'mine' }, spec: {} },
    })
  ).json()) as { readonly status: { readonly token: string } };
  const live = await watch(t, server, 'timeoutSeconds=300');
  await until(async () => live.frames.length === 2);

  await store.kill();
  await until(async () => (await textOf(server.url, '/readyz')).startsWith('503'));
  t.match(await textOf(server.url, '/readyz'), /503 not ready\n- the event log is unreachable: 127\.0\.0\.1:\d+: /u);
  t.equal((await server.call(`${widgets}/before`)).status, 200);
  t.equal((await server.call(widgets)).status, 200);
  t.equal((await server.call(`${widgets}/before?resourceVersion=${resourceVersion}`)).status, 200);
  t.match(await (await server.call('/metrics')).text(), /^ledgerplane_log_reachable 0$/mu);
  const authorization = `Bearer ${token.status.token}`;
  t.equal(
    (await server.call(`${widgets}/before`, { headers: { authorization } })).status,
    200,
    'a token that was never shown before',
  );
  t.equal(
    (await server.call(widgets, { headers: { authorization: `Bearer pat_${'a'.repeat(32)}_${'x'.repeat(43)}` } }))
      .status,
    503,
    'one that may be of another node',
  );
  t.equal(
    (
      await server.call(widgets, {
        headers: { authorization: `Basic ${Buffer.from('admin:wrong').toString('base64')}` },
      })
    ).status,
    401,
  );
  const writes: readonly (readonly [method: string, path: string, body: unknown])[] = [
    ['POST', widgets, widget('away')],
    ['PUT', `${widgets}/before`, { ...widget('before'), spec: { title: 'changed' } }],
    ['DELETE', `${widgets}/before`, undefined],
    ['DELETE', widgets, undefined],
    ['DELETE', `${widgets}/nobody`, undefined],
    ['POST', `${widgets}?dryRun=All`, widget('dry')],
    ['POST', '/api/v1alpha1/users', { metadata: { name: 'jane' }, spec: { password: 'a password of hers' } }],
    ['POST', '/login', { username: 'admin', password: 'correct horse battery staple' }],
    ['POST', '/api/v1alpha1/personalaccesstokens', { metadata: { name: 'another' }, spec: {} }],
  ];
  for (const [method, path, body] of writes) {
    const headers = path === '/login' ? { 'sec-fetch-site': 'same-origin' } : {};
    const response = await server.call(path, { method, ...(body === undefined ? {} : { body }), headers });
    const text = await response.text();
    t.match([response.status, response.headers.get('retry-after')], [503, /^\d+$/u], `${method} ${path}: ${text}`);
  }
  const resuming = await watch(t, server, `resourceVersion=${resourceVersion}&timeoutSeconds=300`);
  const fresh = await watch(t, server, 'timeoutSeconds=300');
  await until(async () => fresh.frames.length === 2);
  t.equal(resuming.status, 200);

  await store.restart();
  await until(async () => (await textOf(server.url, '/readyz')).startsWith('200'));
  await until(async () => (await server.call(widgets, { method: 'POST', body: widget('after') })).status === 201);
  const names = (frames: typeof live.frames) =>
    frames.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`).filter((line) => !line.endsWith(' away'));
  for (const [{ frames, isEnded }, expected] of [
    [live, ['ADDED second', 'ADDED before', 'ADDED after']],
    [fresh, ['ADDED second', 'ADDED before', 'ADDED after']],
    [resuming, ['ADDED second', 'ADDED after']],
  ] as const) {
    await until(async () => names(frames).includes('ADDED after'));
    t.same(names(frames), expected, 'every change once');
    t.equal(isEnded(), false);
  }
  t.match(await (await server.call('/metrics')).text(), /^ledgerplane_log_reachable 1$/mu);
});

test('a starting server waits for an unavailable log, reports it, and serves nothing before', async (t) => {
  const store = await storeFor(t);
  await store.kill();
  let url = '';
  const starting = serverOn(t, store, {
    onListening: (at) => {
      url = at;
    },
  });
  await until(async () => url !== '' && (await textOf(url, '/readyz')).includes('ECONNREFUSED'));
  t.match(
    await textOf(url, '/readyz'),
    /^503 not ready\n- the event log is unreachable: 127\.0\.0\.1:\d+: .*\n- read models are catching up/u,
  );
  t.match(await textOf(url, '/livez'), '200 ok');
  t.match(await textOf(url, widgets), /^503 /u);
  await store.restart();
  const server = await starting;
  t.match(await textOf(server.url, '/readyz'), '200 ok');
  t.equal((await server.call(widgets, { method: 'POST', body: widget('w') })).status, 201);
  t.equal(server.ready.log, 'EventStoreDB');
});

test('a start that waits for its log can be aborted', async (t) => {
  const store = await storeFor(t);
  await store.kill();
  const stop = new AbortController();
  const dataDir = await mkdtemp(join(tmpdir(), 'ledgerplane-'));
  t.teardown(async () => rm(dataDir, { recursive: true, force: true }));
  const starting = startTestServer({
    dataDir,
    environment: { EVENT_LOG: store.url },
    signal: stop.signal,
    onListening: () => {
      stop.abort();
    },
  });
  await t.rejects(starting, { name: 'AbortError' });
});

/** The log itself, for what a server would never write. */
async function rawLog(t: Test, store: EventStore): Promise<EventLog> {
  const log = openEventStoreLog({ url: store.url, clock: systemClock });
  t.teardown(async () => log.close());
  return log;
}

async function append(
  log: EventLog,
  stream: string,
  event: DomainEvent,
  options: { readonly schema?: number; readonly type?: string; readonly time?: string } = {},
): Promise<void> {
  const name = streamName(stream);
  const time = options.time ?? new Date().toISOString();
  const proposed = encodeEvent(randomUUID(), event, {
    actor: 'test',
    verb: 'create',
    requestId: 'r',
    time,
    schema: options.schema ?? 1,
    $correlationId: 'r',
  });
  const expected: ExpectedRevision = (await log.readLast(name))?.revision ?? 'absent';
  appended(await log.append(name, [{ ...proposed, type: options.type ?? proposed.type }], expected));
}

const started = { type: 'EpochStarted', logId: 'the log', domain: 'svc.run', epoch: 0, reason: 'founded' } as const;
const secret = { type: 'TokenIssued', digest: 'x' } as const;

test('a log that cannot be served fails the start with a clear error, and nothing is written to it', async (t) => {
  const stories: Readonly<Record<string, readonly [write: (log: EventLog) => Promise<void>, message: RegExp]>> = {
    'another domain': [
      async (log) => append(log, platformStream, { ...started, domain: 'other.org' }),
      /belongs to PLATFORM_DOMAIN other\.org, but this server has svc\.run/u,
    ],
    'an unfinished copy': [
      async (log) => append(log, platformStream, { ...started, reason: 'copied' }),
      /an unfinished copy/u,
    ],
    'a newer schema': [async (log) => append(log, 'secret:abc', secret, { schema: 2 }), /later version.*schema 2/u],
    'a newer type': [
      async (log) => append(log, 'secret:abc', secret, { type: 'SecretSealed' }),
      /later version.*SecretSealed/u,
    ],
  };
  for (const [what, [write, message]] of Object.entries(stories)) {
    const store = await storeFor(t);
    const log = await rawLog(t, store);
    if (what.startsWith('a newer')) await append(log, platformStream, started);
    await write(log);
    const head = await log.head();
    await t.rejects(
      startTestServer({ environment: { EVENT_LOG: store.url } }),
      { name: 'StartError', exitCode: 2, message },
      what,
    );
    t.equal(await log.head(), head, 'nothing was written');
  }
});

test('a log that refuses its credentials fails the start with a clear error without its address', async (t) => {
  const tls = selfSignedCertificate();
  const store = await startEventStore({ tls, credentials: 'admin:right' });
  t.teardown(async () => store.stop());
  const file = join(await mkdtemp(join(tmpdir(), 'ledgerplane-ca-')), 'ca.crt');
  t.teardown(async () => rm(join(file, '..'), { recursive: true }));
  await writeFile(file, tls.certificate);
  const urls: Readonly<Record<string, string>> = {
    'a wrong password': `${store.url.replace('right', 'secret')}&tlsCAFile=${file}`,
    'no TLS': `esdb://127.0.0.1:${String(store.port)}?tls=false`,
  };
  for (const [what, url] of Object.entries(urls)) {
    const lines: string[] = [];
    const error = await startTestServer({
      environment: { EVENT_LOG: url },
      logLines: {
        write: (line) => {
          lines.push(line);
        },
      },
    }).then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
    t.match(
      error,
      { name: 'StartError', exitCode: 2, message: /check the user, the password and tls= of EVENT_LOG/u },
      what,
    );
    t.notMatch([error?.message, ...lines].join('\n'), /secret|admin:/u);
  }
});

test('an event of a later version stops the server with a clear message', async (t) => {
  const store = await storeFor(t);
  const fatal: Error[] = [];
  const server = await serverOn(t, store, {
    onFatal: (error) => {
      fatal.push(error);
    },
  });
  t.equal((await server.call(widgets)).status, 200);
  await append(await rawLog(t, store), 'secret:abc', secret, { schema: 2 });
  await until(async () => fatal.length > 0);
  t.match(fatal, [{ name: 'StartError', exitCode: 2, message: /later version/u }]);
});

test('a recreated log is followed no further, now or at the next start', async (t) => {
  const store = await storeFor(t);
  const fatal: Error[] = [];
  const server = await serverOn(t, store, {
    onFatal: (error) => {
      fatal.push(error);
    },
  });
  t.equal((await server.call(widgets, { method: 'POST', body: widget('w') })).status, 201);
  await store.reset();
  await until(async () => fatal.length > 0);
  t.match(fatal, [{ name: 'StartError', exitCode: 2, message: /the log was replaced/u }]);
  await server.close();
  await t.rejects(startTestServer({ dataDir: server.dataDir, environment: { EVENT_LOG: store.url } }), {
    name: 'StartError',
    exitCode: 2,
    message: /do not belong to this log.*remove .*read-models/u,
  });
});

test('in a new epoch old positions are expired, and the read models are rebuilt', async (t) => {
  const store = await storeFor(t);
  const fatal: Error[] = [];
  const server = await serverOn(t, store, {
    onFatal: (error) => {
      fatal.push(error);
    },
  });
  const made = (await (await server.call(widgets, { method: 'POST', body: widget('w') })).json()) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  t.equal((await server.call(widgets, { method: 'POST', body: widget('x') })).status, 201);
  const page = (await (await server.call(`${widgets}?limit=1`)).json()) as {
    readonly metadata: { readonly continue: string };
  };
  const log = await rawLog(t, store);
  const [founding] = await log.readStream(platformStream, { from: 0 as never, limit: 1 });
  const { logId } = JSON.parse(Buffer.from(founding!.data).toString()) as { readonly logId: string };
  await append(log, platformStream, { ...started, logId, epoch: 1, reason: 'restored' });
  await until(async () => fatal.length > 0);
  t.match(fatal, [{ name: 'StartError', exitCode: 2 }]);
  await server.close();
  const again = await startTestServer({ dataDir: server.dataDir, environment: { EVENT_LOG: store.url } });
  t.teardown(async () => again.remove());
  const old = made.metadata.resourceVersion;
  const shown = (await (await again.call(`${widgets}/w`)).json()) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  t.equal(shown.metadata.resourceVersion, (BigInt(old) + 10n ** 19n).toString());
  for (const path of [
    `${widgets}?resourceVersion=${old}`,
    `${widgets}/w?resourceVersion=${old}`,
    `${widgets}?limit=1&continue=${page.metadata.continue}`,
  ]) {
    const response = await again.call(path);
    t.match([response.status, await response.json()], [410, { reason: 'Expired' }], path);
  }
  t.equal((await again.call(`${widgets}/w?resourceVersion=${shown.metadata.resourceVersion}`)).status, 200);
  const refused = await watch(t, again, `resourceVersion=${old}`);
  await until(async () => refused.isEnded());
  t.match(refused.frames, [{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  const kept = await watch(t, again, `resourceVersion=${shown.metadata.resourceVersion}`);
  await until(async () => kept.frames.length === 1);
  t.match(kept.frames, [{ type: 'ADDED', object: { metadata: { name: 'x' } } }]);
  t.equal((await again.call(widgets, { method: 'POST', body: widget('y') })).status, 201);
});

test('a position that the log never assigned is expired', async (t) => {
  const store = await storeFor(t);
  const server = await serverOn(t, store);
  const made = (await (await server.call(widgets, { method: 'POST', body: widget('w') })).json()) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  await server
    .restart()
    .then((again) => {
      t.teardown(async () => again.close());
      return again;
    })
    .then(async (again) => {
      const unaligned = await watch(
        t,
        again,
        `resourceVersion=${(BigInt(made.metadata.resourceVersion) - 1n).toString()}`,
      );
      await until(async () => unaligned.isEnded());
      t.match(unaligned.frames, [{ type: 'ERROR', object: { code: 410 } }]);
      t.equal((await again.call(`${widgets}?resourceVersion=${'9'.repeat(24)}`)).status, 410);
      t.equal((await again.call(`${widgets}?resourceVersion=${'9'.repeat(25)}`)).status, 400);
    });
});

test('an event from a clock far ahead is reported, and later events do not adopt its time', async (t) => {
  const store = await storeFor(t);
  const lines: string[] = [];
  const server = await serverOn(t, store, {
    logLines: {
      write: (line) => {
        lines.push(line);
      },
    },
  });
  const ahead = new Date(Date.now() + 600_000).toISOString();
  await append(await rawLog(t, store), 'secret:abc', secret, { time: ahead });
  await until(async () => lines.some((line) => line.includes('the clock of this node or of another node is wrong')));
  const made = (await (await server.call(widgets, { method: 'POST', body: widget('w') })).json()) as {
    readonly metadata: { readonly creationTimestamp: string };
  };
  t.ok(Math.abs(Date.parse(made.metadata.creationTimestamp) - Date.now()) < 60_000, made.metadata.creationTimestamp);
  t.equal(lines.filter((line) => line.includes('the clock of this node')).length, 1);
});

test('of two nodes that start on an empty log one creates the administrator and the password file', async (t) => {
  const store = await storeFor(t);
  const start = async () => startTestServer({ environment: { EVENT_LOG: store.url, ADMIN_PASSWORD: '' } });
  const servers = await Promise.all([start(), start()]);
  t.teardown(async () => {
    for (const server of servers) await server.remove();
  });
  const { readFile } = await import('node:fs/promises');
  const files = await Promise.all(
    servers.map(async ({ dataDir }) => readFile(join(dataDir, 'admin-password'), 'utf8').catch(() => undefined)),
  );
  const passwords = files.filter((file) => file !== undefined);
  t.equal(passwords.length, 1);
  const authorization = `Basic ${Buffer.from(`admin:${passwords[0]!.trim()}`).toString('base64')}`;
  for (const server of servers)
    t.equal((await server.call('/api/v1alpha1/users', { headers: { authorization } })).status, 200);
});
