/** Query parameters with nearly known names, and `at`, on a whole server. */
import { test } from 'tap';

import { checkParameterNames } from '../../../src/http/query-names.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { ask, type Asked } from '../../support/ask.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const known = [
  'labelSelector',
  'fieldSelector',
  'sort',
  'page',
  'size',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'watch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'timeoutSeconds',
  'dryRun',
  'fieldValidation',
  'propagationPolicy',
];

/** What Kubernetes' tools and its API know beside these; and what browsers and proxies add. */
const others = [
  'pretty',
  'timeout',
  '_',
  'fieldManager',
  'force',
  'gracePeriodSeconds',
  'orphanDependents',
  'exact',
  'export',
  'includeObject',
  'includeUninitialized',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'shardSelector',
  'follow',
  'previous',
  'sinceSeconds',
  'sinceTime',
  'tailLines',
  'limitBytes',
  'timestamps',
  'container',
  'command',
  'stdin',
  'stdout',
  'stderr',
  'tty',
  'path',
  'ports',
  'verbose',
  'exclude',
  'allowed',
  'as',
  'async',
  'state',
  'q',
  'a',
  't',
  'access_token',
  'insecureSkipTLSVerifyBackend',
  'stream',
  'dry',
  'select',
  'selector',
  'labels',
  'fields',
  '',
];

const meantBy = (query: string): string | undefined => checkParameterNames(new URLSearchParams(query))?.detail;

/** Every name that is one letter away, or differs in case. */
function spellingsOf(name: string): readonly string[] {
  const spelt = [name.toLowerCase(), name.toUpperCase(), name[0]!.toUpperCase() + name.slice(1)];
  for (let at = 0; at <= name.length; at += 1) {
    spelt.push(`${name.slice(0, at)}q${name.slice(at)}`);
    if (at === name.length) continue;
    spelt.push(name.slice(0, at) + name.slice(at + 1), `${name.slice(0, at)}q${name.slice(at + 1)}`);
    spelt.push(name.slice(0, at) + (name[at + 1] ?? '') + name[at]! + name.slice(at + 2));
  }
  return spelt.filter((one) => !known.includes(one));
}

test('a nearly known name is refused with the probable one', async (t) => {
  for (const name of known) {
    t.equal(meantBy(`${name}=1`), undefined, name);
    const named = (spelt: string): boolean =>
      meantBy(`x=1&${encodeURIComponent(spelt)}=1`)?.includes(JSON.stringify(name)) === true;
    const unlike = spellingsOf(name).filter((spelt) => !named(spelt));
    t.strictSame(unlike, [], name);
  }
  const twice = meantBy('label%53elector=a&labelselector=b');
  t.match(twice, /no query parameter "labelselector"; did you mean "labelSelector"/u);
  t.match(meantBy('%20limit=1'), /did you mean "limit"/u);
  for (const at of ['at', 'At', 'AT', '%61t'])
    t.match(meantBy(`${at}=1`), /^at: this path does not support past states$/u, at);
});

test('the own parameters of a path are among the probable ones there', async (t) => {
  const meant = (query: string): string | undefined =>
    checkParameterNames(new URLSearchParams(query), { own: ['include', 'uid', 'after'] })?.detail;
  for (const query of ['include=object&uid=1&after=5', 'id=1', 'ui=1', 'later=1'])
    t.equal(meant(query), undefined, query);
  for (const spelt of ['inclde', 'INCLUDE', 'includes', 'icnlude'])
    t.match(meant(`${spelt}=1`), /did you mean "include"/u);
  t.match(meant('Uid=1'), /did you mean "uid"/u);
  t.match(meant('aftr=1'), /did you mean "after"/u);
  t.equal(meantBy('aftr=1'), undefined, 'and elsewhere they are unknown names');
});

test('parameters of common tools and unrelated names are ignored', async (t) => {
  for (const name of others) t.equal(meantBy(`${encodeURIComponent(name)}=1`), undefined, name);
  for (const name of ['lmt', 'selectorLabel', 'pagesize', 'sortBy', 'sizes2', 'watching', 'x'.repeat(60_000)]) {
    t.equal(meantBy(`${name}=1`), undefined, name.slice(0, 20));
  }
});

const depot = `export default {
  types: [{ group: 'depot.example', version: 'v1', kind: 'Box', singular: 'box', plural: 'boxes',
    schema: { type: 'object', properties: { spec: { type: 'object' } } } }],
  routes: [{ method: 'GET', path: '/apis/api.depot.example/v1/lids', handler: ({ query }) => ({ body: query }) }],
  sockets: [{ path: '/apis/api.depot.example/v1/feed', handler: ({ send }) => { send('served'); } }],
};\n`;

test("the platform's paths refuse such names, and plugins' own routes receive them", async (t) => {
  const folder = await temporaryFolder(t);
  const files = { 'plugin.yaml': manifestYaml('depot', { main: 'main.mjs' }), 'main.mjs': depot };
  await writePlugins(folder, { depot: files });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  t.teardown(async () => server.remove());
  const json = { authorization: adminAuthorization, 'content-type': 'application/json' };
  const call = async (path: string, asked: Asked = {}): Promise<{ readonly status: number; readonly text: string }> =>
    ask(server.url, path, { ...asked, headers: { ...json, ...asked.headers } });
  const boxes = '/apis/depot.example/v1/boxes';
  const made = async (name: string): Promise<void> => {
    const body = JSON.stringify({ metadata: { name }, spec: {} });
    t.equal((await call(boxes, { method: 'POST', body })).status, 201);
  };
  await made('a');
  const merge = { headers: { 'content-type': 'application/merge-patch+json' }, body: '{"spec":{"changed":true}}' };
  const identity = { apiVersion: 'depot.example/v1', kind: 'Box', metadata: { name: 'a' } };
  const whole = JSON.stringify({ ...identity, spec: { changed: true } });
  const review = JSON.stringify({ spec: { nonResourceAttributes: { path: '/x', verb: 'get' } } });
  const calls: readonly (readonly [path: string, asked?: Asked])[] = [
    [boxes],
    [boxes, { method: 'HEAD' }],
    [boxes, { method: 'DELETE' }],
    [boxes, { method: 'POST', body: '{"metadata":{"name":"b"},"spec":{}}' }],
    [`${boxes}/a`],
    [`${boxes}/a`, { method: 'HEAD' }],
    [`${boxes}/a`, { method: 'PUT', body: whole }],
    [`${boxes}/a`, { method: 'PATCH', ...merge }],
    [`${boxes}/a`, { method: 'DELETE' }],
    [boxes, { headers: { accept: 'text/event-stream' } }],
    [boxes, { upgrade: true }],
    [`${boxes}/a`, { upgrade: true }],
    ['/api'],
    ['/api/v1alpha1'],
    ['/apis'],
    ['/apis/depot.example'],
    ['/apis/depot.example/v1'],
    ['/version'],
    ['/metrics'],
    ['/healthz'],
    ['/apis/uc.api.svc.run/v1alpha1/users/-'],
    ['/apis/uc.api.svc.run/v1alpha1/personalaccesstokens'],
    ['/apis/api.console.svc.run/v1alpha1/users/-/permissions'],
    ['/apis/api.console.svc.run/v1alpha1/roletemplates'],
    ['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { method: 'POST', body: review }],
    ['/login', { method: 'POST', body: '{"username":"admin","password":"x"}' }],
  ];
  const hasPast = (path: string, { method = 'GET', headers, upgrade }: Asked): boolean =>
    [boxes, `${boxes}/a`].includes(path) &&
    ['GET', 'HEAD'].includes(method) &&
    headers === undefined &&
    upgrade === undefined;
  for (const [path, asked = {}] of calls) {
    const what = `${asked.method ?? 'GET'} ${path}${asked.upgrade === true ? ' upgrade' : ''}`;
    for (const query of ['at=5', 'force=true&Limit=1', 'dryrun=All', 'fieldSelectr=x']) {
      if (query === 'at=5' && hasPast(path, asked)) continue;
      const { status, text } = await call(`${path}?${query}`, { ...asked, headOnly: false });
      t.equal(status, 400, `${what}?${query}`);
      const isWatch = asked.upgrade === true || asked.headers?.['accept'] === 'text/event-stream';
      const past = isWatch
        ? /a watch does not support this parameter; to start the watch/u
        : /does not support past states/u;
      const detail = query === 'at=5' ? past : /did you mean /u;
      if (asked.method !== 'HEAD') t.match(text, detail, what);
    }
  }
  const { text } = await call(`${boxes}/a`);
  t.match(JSON.parse(text), { metadata: { version: 0 }, spec: {} }, 'nothing was written');
  t.equal((await call(`${boxes}?watch=true&timeoutSecond=1`)).status, 400);
  t.equal((await call(`${boxes}?Watch=true`)).status, 400, 'a misspelled watch is not served as a list');
  const ignored = 'pretty=true&timeout=32s&_=1&fieldManager=x&force=true&exact=true&export=true&orphanDependents=false';
  for (const query of [ignored, 'propagationPolicy=nonsense&dryRun=All']) {
    t.equal((await call(`${boxes}/a?${query}`)).status, 200, query);
  }
  t.equal((await call('/apis/none.example/v1/things?at=5')).status, 404, 'where nothing is, nothing is judged');
  t.equal((await call(`${boxes}?at=5`, { method: 'PUT', body: whole })).status, 405);
  const unread = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' };
  t.equal((await call(`${boxes}?at=5`, unread)).status, 415);
  t.equal((await call('/apis/api.depot.example/v1/lids?at=5&Limit=1')).text, '{"at":"5","Limit":"1"}');
  t.equal((await call('/apis/api.depot.example/v1/feed?at=5&Limit=1', { upgrade: true })).status, 101);
  const visitor = await ask(server.url, `${boxes}?at=5`);
  t.equal(visitor.status, 401, 'rights come first');
});
