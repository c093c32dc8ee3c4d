import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { test, type Test } from 'tap';

import { widget, type Widget } from '../../plugins/example/widget.ts';
import { ClientError, connect, ConnectionError, type Fetch, type RemoteClient } from '../../src/client/client.ts';
import type { Client } from '../../src/plugin/api/plugin.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { tokenOf } from './client-token.ts';
import { object, rejection, ScriptedServer, status, thing } from './scripted-server.ts';

async function started(t: Test): Promise<{ readonly server: TestServer; readonly client: RemoteClient }> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  return { server, client: connect({ url: server.url, token: await tokenOf(server) }) };
}

test('the calls are those of plugin code, with its errors', async (t) => {
  const { client } = await started(t);
  // A function that takes plugin code's client takes this one.
  const plugins: Client = client;
  const made = await plugins.create(widget, { metadata: { name: 'lamp' }, spec: { title: 'Lamp', size: 2 } });
  t.equal(made.spec.title, 'Lamp');
  const { uid, resourceVersion } = made.metadata;
  t.strictSame(await client.get(widget, 'lamp'), made);
  t.equal(await client.get(widget, 'nothing'), undefined);
  const updated = await client.update(widget, { ...made, spec: { ...made.spec, size: 3 } });
  t.equal(updated.spec.size, 3);
  const patched: Widget = await client.patch(widget, 'lamp', { spec: { size: 4 } }, { uid });
  t.equal(patched.spec.size, 4);
  t.equal((await client.patchStatus(widget, 'lamp', { status: { phase: 'on' } })).status?.phase, 'on');
  const list = await client.list(widget, { fieldSelector: ['spec.size>3', 'spec.title=Lamp'], sort: 'metadata.name' });
  t.match(list, { total: 1, items: [{ metadata: { name: 'lamp' } }], resourceVersion: /^\d+$/u });
  t.same((await client.list(widget, { page: 2, size: 1 })).items, []);

  await t.rejects(client.patch(widget, 'lamp', { spec: { size: 5 } }, { resourceVersion }), {
    name: 'ClientError',
    reason: 'Conflict',
    message: /has been modified/u,
  });
  t.match(await rejection(client.delete(widget, 'lamp', { uid: 'another' })), { reason: 'Conflict' });
  const { group, version, plural } = widget;
  const named = { group, version, plural };
  const invalid: unknown = await client
    .create(named, { metadata: { name: 'bad' }, spec: { size: 5_000 } })
    .catch((error: unknown) => error);
  t.ok(invalid instanceof ClientError);
  t.match(invalid, { status: 422, reason: 'Invalid', errors: [{ pointer: '/spec/title' }, { pointer: '/spec/size' }] });
  const unknown = { ...thing, plural: 'nothings' };
  t.match(await rejection(client.get(unknown, 'lamp')), { reason: 'NotFound' }, 'a type that does not exist');
  t.equal((await client.delete(widget, 'lamp', { uid })).metadata.name, 'lamp');
  t.equal(await client.get(widget, 'lamp'), undefined);
  const past: Widget | undefined = await client.get(widget, 'lamp', { at: resourceVersion });
  t.strictSame(past, made, 'the first state of an object that has been deleted');
  t.equal(await client.get(widget, 'nothing', { at: resourceVersion }), undefined);
  const before = String(Number(resourceVersion) - 1);
  t.equal(await client.get(widget, 'lamp', { at: before }), undefined, 'before its creation');
  t.match(await rejection(client.get(widget, 'lamp', { at: 'lately' })), { reason: 'BadRequest' });
  t.strictSame((await client.list(widget, { at: resourceVersion })).items, [made]);
  await t.rejects(client.update(named, { spec: {} }), TypeError);
});

test('a request may have a precondition, and a response may be text', async (t) => {
  const { client } = await started(t);
  const { metadata } = await client.create(widget, { metadata: { name: 'lamp' }, spec: { title: 'Lamp' } });
  await client.patch(widget, 'lamp', { spec: { title: 'Lump' } });
  const path = '/apis/example.com/v1alpha1/widgets/lamp/restore';
  const options = { method: 'POST', query: { at: metadata.resourceVersion } };
  t.match(await rejection(client.request(path, { ...options, ifMatch: '"0"' })), { status: 412 });
  t.match(await client.request(path, { ...options, ifMatch: '"1"' }), { spec: { title: 'Lamp' } });
  const own = '/apis/api.console.svc.run/v1alpha1/users/-/permissions';
  const first = await client.requestChanged<{ readonly uiPermissions: readonly string[] }>(own, {});
  t.match(first, { value: { uiPermissions: ['*'] }, tag: /^"/u });
  t.equal(await client.requestChanged(own, { known: first?.tag, query: { wait: 0 } }), undefined);
  t.match(await rejection(client.requestChanged(own, { query: { wait: 61 } })), { status: 400 });
  t.match(await client.requestText('/livez', { accept: 'text/plain' }), /^\S/u);
  t.match(await rejection(client.requestText('/nothing/at/all')), { status: 404 });
});

test('a name is one segment of the path, and the core group has its own root', async (t) => {
  const server = await ScriptedServer.start(t);
  const client = connect({ url: `${server.url}/below/here/` });
  const got = client.get({ group: '', version: 'v1alpha1', plural: 'users' }, '../a b?c');
  const asked = await server.asked();
  t.equal(asked.url.pathname, '/below/here/api/v1alpha1/users/..%2Fa%20b%3Fc');
  asked.json(200, object('a', 1));
  await got;
});

test('Retry-After is of the error, also from a Status', async (t) => {
  const server = await ScriptedServer.start(t);
  const client = server.client({ retryMs: 0 });
  for (const [body, headers, seconds] of [
    [status(429, 'TooManyRequests'), { 'retry-after': '7' }, 7],
    [status(429, 'TooManyRequests', { details: { retryAfterSeconds: 3 } }), {}, 3],
    [status(429, 'TooManyRequests'), { 'retry-after': 'soon' }, undefined],
  ] as const) {
    const refused = client.create(thing, {}).catch((error: unknown) => error);
    (await server.asked()).json(429, body, headers);
    t.match(await refused, { status: 429, reason: 'TooManyRequests', retryAfterSeconds: seconds });
  }
  const plain = client.list(thing).catch((error: unknown) => error);
  (await server.asked()).response.writeHead(502).end('<html>bad gateway</html>');
  t.match(await plain, { name: 'ClientError', status: 502, reason: 'Unknown', message: '<html>bad gateway</html>' });
});

test('a cut answer is a ConnectionError, and a signal ends a call', async (t) => {
  const server = await ScriptedServer.start(t);
  const client = server.client();
  const cut = t.rejects(client.list(thing), ConnectionError);
  const asked = await server.asked();
  asked.response.writeHead(200, { 'content-length': '100' }).write('{"items":');
  asked.response.destroy();
  await cut;
  for (const call of [
    (signal: AbortSignal) => client.get(thing, 'a', { signal }),
    (signal: AbortSignal) => client.list(thing, { signal }),
    (signal: AbortSignal) => client.create(thing, {}, { signal }),
    (signal: AbortSignal) => client.update(thing, object('a', 1), { signal }),
    (signal: AbortSignal) => client.patch(thing, 'a', {}, { signal }),
    (signal: AbortSignal) => client.patchStatus(thing, 'a', {}, { signal }),
    (signal: AbortSignal) => client.delete(thing, 'a', { signal }),
    (signal: AbortSignal) => client.items(thing, { signal }).next(),
    (signal: AbortSignal) => client.pages(thing, { signal }).next(),
  ]) {
    const over = new AbortController();
    const ended = rejection(call(over.signal));
    const { url } = await server.asked();
    t.notMatch(url.search, /signal/u);
    over.abort(new Error('enough'));
    t.match(await ended, { message: 'enough' });
  }
});

test('a token goes to its server only, and into no message', async (t) => {
  const other = createServer();
  const seen: string[] = [];
  other.on('request', ({ headers }, response) => {
    seen.push(headers.authorization ?? 'none');
    response.end('{}');
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const elsewhere = `http://127.0.0.1:${String((other.address() as AddressInfo).port)}/`;
  const server = await ScriptedServer.start(t);
  const client = server.client({ token: async () => Promise.resolve('secret-1') });
  for (const code of [301, 302, 303, 307, 308]) {
    const refused = client.create(thing, {}).catch((error: unknown) => error);
    const asked = await server.asked();
    t.equal(asked.headers.authorization, 'Bearer secret-1');
    asked.response.writeHead(code, { location: elsewhere }).end();
    const error = await refused;
    t.ok(error instanceof ConnectionError);
    t.notMatch(String(error instanceof Error ? error.stack : error), /secret/u);
  }
  t.strictSame(seen, []);
  for (const token of ['two\nlines-secret', 'späce-secret', 'a b-secret', '']) {
    const error: unknown = await server
      .client({ token })
      .list(thing)
      .catch((caught: unknown) => caught);
    t.ok(error instanceof TypeError);
    t.notMatch(String(error), /secret/u);
  }
});

test('options that cannot be right are refused at once, without their secrets', async (t) => {
  for (const url of ['', 'somewhere', 'ftp://host', 'http://user:secret@host/', '/relative']) {
    t.throws(() => connect({ url }), { name: 'TypeError', message: /^(?!.*secret)the url of the server/u });
  }
  t.throws(() => connect({ url: 'http://host', token: 'a', session: {} }), TypeError);
});

test('a page writes with its session and the CSRF token', async (t) => {
  const { server } = await started(t);
  const login = await fetch(`${server.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: 'correct horse battery staple' }),
  });
  const { csrfToken } = (await login.json()) as { readonly csrfToken: string };
  const [cookie = ''] = (login.headers.getSetCookie()[0] ?? '').split(';');
  const credentials: (string | undefined)[] = [];
  // As a browser does for a page of the same origin.
  const send: Fetch = async (url, init) => {
    credentials.push(init.credentials);
    return fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), cookie } });
  };
  const page = connect({ url: server.url, session: { csrfToken }, fetch: send });
  await page.create(widget, { metadata: { name: 'lamp' }, spec: { title: 'Lamp' } });
  const events = page.watch(widget);
  t.match(await events.next(), { value: { type: 'ADDED', object: { metadata: { name: 'lamp' } } } });
  await events.return();
  const unarmed = connect({ url: server.url, session: {}, fetch: send });
  t.match(await rejection(unarmed.delete(widget, 'lamp')), { reason: 'Forbidden' });
  t.strictSame([...new Set(credentials)], ['same-origin']);
});

test('lists page by themselves, and each object comes once', async (t) => {
  const { client } = await started(t);
  const names = Array.from({ length: 23 }, (_, index) => `w${String(index).padStart(2, '0')}`);
  for (const name of names)
    await client.create(widget, {
      metadata: { name, labels: { odd: String(Number(name.slice(1)) % 2) } },
      spec: { title: name },
    });
  const found: string[] = [];
  for await (const { metadata } of client.items(widget, { limit: 5, sort: 'metadata.name' })) found.push(metadata.name);
  t.strictSame(found, names);
  const pages: number[] = [];
  for await (const { items, total } of client.pages(widget, { limit: 5, labelSelector: 'odd=1' })) {
    pages.push(items.length);
    t.equal(total, 11);
  }
  t.strictSame(pages, [5, 5, 1]);
  let count = 0;
  for await (const object of client.items(widget)) count += object.spec.title.length / 3;
  t.equal(count, 23);
});

test('a list that expires in the middle begins anew and repeats nothing', async (t) => {
  const server = await ScriptedServer.start(t);
  const page = (names: readonly string[], token?: string): object => ({
    metadata: { resourceVersion: '9', ...(token === undefined ? {} : { continue: token }) },
    items: names.map((name) => object(name, 1)),
  });
  const items = server.client().items(thing, { limit: 2 });
  const found: string[] = [];
  const reading = (async () => {
    for await (const { metadata } of items) found.push(metadata.name);
  })();
  (await server.asked()).json(200, page(['a', 'b'], 'one'));
  (await server.asked()).json(410, status(410, 'Expired'));
  const next = await server.asked();
  t.notOk(next.url.searchParams.has('continue'));
  next.json(200, page(['b', 'c'], 'two'));
  (await server.asked()).json(200, page(['d']));
  await reading;
  t.strictSame(found, ['a', 'b', 'c', 'd']);

  const endless = rejection(
    (async () => {
      for await (const each of server.client().items(thing)) t.equal(each.metadata.name, 'a');
    })(),
  );
  for (let turn = 0; turn <= 5; turn += 1) {
    (await server.asked()).json(200, page(['a'], 'x'));
    (await server.asked()).json(410, status(410, 'Expired'));
  }
  t.match(await endless, { reason: 'Expired' });
});

test('a request to any path has the credentials, the form and the errors of the calls', async (t) => {
  const { server, client } = await started(t);
  await client.create(widget, { metadata: { name: 'lamp' }, spec: { title: 'Lamp', size: 2 } });
  const path = '/apis/example.com/v1alpha1/widgets';
  const table = await client.request<{ readonly kind: string; readonly rows: readonly object[] }>(path, {
    query: { limit: 1, sort: ['spec.size', 'metadata.name'] },
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  });
  t.match(table, { kind: 'Table', rows: [{ cells: ['lamp', 'Lamp', 2] }] });
  const body = [{ op: 'replace', path: '/spec/size', value: 3 }];
  const patched = await client.request<Widget>(`${path}/lamp`, {
    method: 'PATCH',
    body,
    contentType: 'application/json-patch+json',
  });
  t.equal(patched?.spec.size, 3);
  await t.rejects(client.request(`${path}/none`), { name: 'ClientError', status: 404 });
  await t.rejects(client.request('//example.org/x'), { name: 'ClientError' }, 'a path never names another server');
  await t.rejects(client.request('apis'), { name: 'TypeError' });
  const login = { method: 'POST', body: { username: 'admin', password: testPassword } };
  const cookie = (await server.call('/login', login)).headers.get('set-cookie')?.split(';')[0] ?? '';
  const withCookie: Fetch = async (url, init) =>
    fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), cookie } });
  const { csrfToken } = (await (await server.call('/login', login)).json()) as { readonly csrfToken: string };
  const other = connect({ url: server.url, session: { csrfToken }, fetch: withCookie });
  await t.rejects(other.request('/logout', { method: 'POST' }), { name: 'ClientError' });
});

test('a request without a body in its response resolves with undefined', async (t) => {
  const server = await ScriptedServer.start(t);
  const asking = server.client().request('/logout', { method: 'POST' });
  (await server.asked()).response.writeHead(204).end();
  t.equal(await asking, undefined);
});

test('a form is sent with its files', async (t) => {
  const { client } = await started(t);
  const form = new FormData();
  form.set('file', new Blob(['not a package']), 'package.tgz');
  const path = '/apis/api.console.svc.run/v1alpha1/plugins/install';
  t.match(await rejection(client.request(path, { method: 'POST', body: form, query: { dryRun: 'All' } })), {
    status: 422,
    message: /tarball/u,
  });
  t.match(await rejection(client.request(path, { method: 'POST', body: { file: 'text' } })), { status: 415 });
});
