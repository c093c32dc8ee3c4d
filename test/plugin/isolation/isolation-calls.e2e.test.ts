import { once } from 'node:events';

import { test } from 'tap';
import { WebSocket } from 'ws';

import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';
import { manifestYaml, moduleText, temporaryFolder, writePlugins } from '../host/host-stage.ts';

/** What a plugin's code does when it is called, whatever for. */
const acts = {
  throws: 'throw new Error("boom");',
  'throws text': 'throw "boom";',
  'throws nothing': 'throw undefined;',
  'throws a value without a text': 'throw Object.create(null);',
  'throws a hostile error':
    'throw new Proxy(new Error(), { get() { throw new Error("looked"); }, getPrototypeOf() { throw new ' +
    'Error("peeked"); } });',
  'throws an error without a stack to look at':
    'throw Object.defineProperty(new Error("boom"), "stack", { get() { throw 1; } });',
  rejects: 'return Promise.reject(Object.create(null));',
  'answers a thenable that throws': 'return { get then() { throw Object.create(null); } };',
  'answers a thenable that calls back twice':
    'return { then(done, failed) { failed(Object.create(null)); done(1); failed(2); } };',
};
/** What only an answer can be. */
const answers = {
  text: '"text"',
  'a number': '7',
  'a bigint': '1n',
  'an array': '[]',
  'a symbol': 'Symbol("s")',
  'a status that is none': '{ status: 99 }',
  'a hostile status': '{ get status() { throw Object.create(null); } }',
  'a cycle': '(() => { const a = {}; a.a = a; return { body: a }; })()',
  'a bigint within': '{ body: { a: 1n } }',
  'a body that throws': '{ body: { toJSON() { throw Object.create(null); } } }',
  'a proxy':
    'new Proxy({}, { get(target, name) { if (name === "then") return undefined; throw Object.create(null); } })',
  'a header that is none': '{ headers: { "a b": "c" } }',
  'headers that throw': '{ headers: new Proxy({}, { ownKeys() { throw Object.create(null); } }) }',
};
const functions = Object.entries({
  ...acts,
  ...Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, `return ${value};`])),
});
const module = `
  const functions = [${functions.map(([, text]) => `() => { ${text} }`).join(', ')}];
  const within = { events: (act) => ({ events: (async function* () { yield { data: 1 }; await act(); })() }),
    iterator: (act) => ({ events: { [Symbol.asyncIterator]: () => ({ next: act, return: act }) } }) };
  export default {
    routes: [
      { method: 'POST', path: '/apis/api.bad.example/v1/route', handler: ({ query }) => functions[query.act]() },
      ...Object.entries(within).map(([name, make]) => ({ method: 'GET', path: '/apis/api.bad.example/v1/' + name,
        handler: ({ query }) => make(functions[query.act]) })),
    ],
    sockets: [{ path: '/apis/api.bad.example/v1/socket', handler: (socket, { query }) => functions[query.act]() }],
  };
`;

test('any fault of a route, event stream or socket is answered, logged with its plugin, and contained', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    bad: { 'plugin.yaml': manifestYaml('bad', { main: 'main.mjs' }), 'main.mjs': module },
    good: { 'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }), 'main.mjs': moduleText('goods') },
  });
  const lines: string[] = [];
  const server = await startTestServer({
    environment: { PLUGINS_DIRS: root },
    logLines: {
      write: (line) => {
        lines.push(line);
      },
    },
  });
  t.teardown(() => server.remove());
  // The process of this test would end by it, as the server would.
  const strays: unknown[] = [];
  const stray = (error: unknown): void => {
    strays.push(error);
  };
  process.on('unhandledRejection', stray);
  t.teardown(() => {
    process.off('unhandledRejection', stray);
  });
  const countLines = (message: string): number =>
    lines.filter((line) => line.includes(message) && line.includes('"plugin":"bad"')).length;
  const api = '/apis/api.bad.example/v1';
  for (const [index, [name]] of functions.entries()) {
    const before = countLines('a plugin route failed');
    t.equal((await server.call(`${api}/route?act=${String(index)}`, { method: 'POST' })).status, 500, `route: ${name}`);
    t.equal(countLines('a plugin route failed'), before + 1, name);
    const isAct = index < Object.keys(acts).length;
    for (const stream of ['events', 'iterator']) {
      const failed = countLines('the event stream of a plugin route failed');
      const answer = await server.call(`${api}/${stream}?act=${String(index)}`);
      t.equal(answer.status, 200, `${stream}: ${name}`);
      await answer.text();
      if (isAct || stream === 'iterator')
        t.equal(countLines('the event stream of a plugin route failed'), failed + 1, `${stream}: ${name}`);
    }
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}${api}/socket?act=${String(index)}`, {
      headers: { authorization: adminAuthorization },
    });
    const [code] = (await once(socket, 'close')) as [number];
    t.equal(code, isAct ? 1011 : 1000, `socket: ${name}`);
  }
  t.same(strays, [], 'nothing is left to nobody');
  t.equal((await server.call('/apis/goods.example/v1/goods')).status, 200, 'another plugin');
  t.equal((await server.call('/api/v1alpha1/roles')).status, 200, 'the platform');
});
