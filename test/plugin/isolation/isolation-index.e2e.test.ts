import { test } from 'tap';
import type { Test } from 'tap';

import { startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { manifestYaml, moduleText, temporaryFolder, writePlugins } from '../host/host-stage.ts';

/** What an index function does with an object, by its `spec.act`. */
const acts = {
  throws: 'throw new Error("boom");',
  'throws nothing': 'throw undefined;',
  'throws what throws': 'throw { get message() { throw 1; }, toString() { throw 2; } };',
  'throws a hostile error':
    'throw new Proxy(new Error(), { get() { throw new Error("looked"); }, getPrototypeOf() { throw new ' +
    'Error("peeked"); } });',
  rejects: 'return Promise.reject(new Error("later"));',
  'never settles': 'return new Promise(() => {});',
  'a thenable that calls back twice': 'return { then(done) { done(1); done(2); } };',
  'a bigint': 'return 1n;',
  'a symbol': 'return Symbol("s");',
  'a function': 'return () => 1;',
  'not a number': 'return NaN;',
  'an object': 'return {};',
  'a cycle': 'const a = []; a.push(a); return a;',
  'an array where one value is due': 'return ["a", "b"];',
  'a revoked proxy': 'const { proxy, revoke } = Proxy.revocable([], {}); revoke(); return proxy;',
  'a hostile proxy':
    'return new Proxy({}, { get() { throw new Error("looked"); }, getPrototypeOf() { throw new Error("peeked"); } });',
  'a text far too long': 'return "x".repeat(1e6);',
  'changes the object': 'object.spec.act = "else"; return "a";',
  recurses: 'return (function deeper() { return deeper() + 1; })();',
};
/** A module that is `tame` has no quarrel with any object. */
const module = (isTame: boolean): string => `
  const acts = { ${Object.entries(acts)
    .map(([name, text]) => `${JSON.stringify(name)}(object) { ${text} }`)
    .join(',\n')} };
  export default {
    types: [{ group: 'odd.example', version: 'v1', kind: 'Odd', singular: 'odd', plural: 'odds',
      schema: { type: 'object', properties: { spec: { type: 'object' } } },
      indexes: [{
        name: 'odd',
        indexFunc: ${isTame ? '() => null' : '(object) => acts[object.spec?.act]?.(object)'},
      }] }],
  };
`;
const odds = '/apis/odd.example/v1/odds';

async function serving(root: string, main: string): Promise<{ readonly server: TestServer; readonly lines: string[] }> {
  await writePlugins(root, {
    odd: { 'plugin.yaml': manifestYaml('odd', { main }), 'wild.mjs': module(false), 'tame.mjs': module(true) },
    good: { 'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }), 'main.mjs': moduleText('goods') },
  });
  const lines: string[] = [];
  return {
    server: await startTestServer({
      environment: { PLUGINS_DIRS: root },
      logLines: {
        write: (line) => {
          lines.push(line);
        },
      },
    }),
    lines,
  };
}

async function isWell(t: Test, server: TestServer, odd: string): Promise<void> {
  t.equal((await server.call('/apis/goods.example/v1/goods')).status, 200, `${odd}: another plugin`);
  t.equal((await server.call('/api/v1alpha1/roles')).status, 200, `${odd}: the platform`);
  t.equal((await server.call(odds)).status, 200, `${odd}: the plugin itself`);
}

test('an object is refused when an index function returns invalid values for it, and no other is', async (t) => {
  const { server } = await serving(await temporaryFolder(t), 'wild.mjs');
  t.teardown(() => server.remove());
  for (const act of Object.keys(acts)) {
    const answer = await server.call(odds, {
      method: 'POST',
      body: { metadata: { name: 'refused' }, spec: { act } },
    });
    const body = (await answer.json()) as { detail: string; reason: string };
    t.equal(answer.status, 422, act);
    t.match(body.detail, /index "odd": .*\(the plugin odd\)$/u, act);
    t.equal((await server.call(`${odds}/refused`)).status, 404, act);
    await isWell(t, server, act);
  }
  t.equal((await server.call(odds, { method: 'POST', body: { metadata: { name: 'fine' }, spec: {} } })).status, 201);
});

test('stored objects on which an index function throws stay without a value, and the log names them', async (t) => {
  const root = await temporaryFolder(t);
  const { server, lines } = await serving(root, 'tame.mjs');
  for (const [index, act] of Object.keys(acts).entries())
    t.equal(
      (
        await server.call(odds, {
          method: 'POST',
          body: { metadata: { name: `odd-${String(index)}` }, spec: { act } },
        })
      ).status,
      201,
      act,
    );
  await writePlugins(root, { odd: { 'plugin.yaml': manifestYaml('odd', { main: 'wild.mjs' }) } });
  const again = await server.restart();
  t.teardown(() => again.remove());
  await isWell(t, again, 'after a restart');
  const list = (await (await again.call(odds)).json()) as { items: unknown[] };
  t.equal(list.items.length, Object.keys(acts).length);
  const logged = lines
    .filter((line) => line.includes('an index function fails'))
    .map((line) => JSON.parse(line) as unknown);
  t.match(logged, [
    {
      level: 40,
      plugin: 'odd',
      type: 'odds.odd.example',
      count: Object.keys(acts).length,
      first: 'odd-0',
      problem: /the index function threw: boom/u,
    },
  ]);
  const failing = async (on: TestServer): Promise<string | undefined> => {
    const plugin = (await (await on.call('/apis/plugin.svc.run/v1alpha1/plugins/odd')).json()) as {
      status: { conditions: readonly { type: string; message: string }[] };
    };
    return plugin.status.conditions.find(({ type }) => type === 'IndexFunctionFailing')?.message;
  };
  t.equal(
    await failing(again),
    `odds.odd.example: ${String(Object.keys(acts).length)} index values are missing, the first for the object ` +
      '"odd-0": index "odd": the index function threw: boom (at wild.mjs:2)',
  );
  t.equal((await again.call(`${odds}?fieldSelector=odd=a`)).status, 200);
  t.equal((await again.call(`${odds}/odd-0`, { method: 'DELETE' })).status, 200, 'such an object can go');
});
