import { test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { Administration, as, type Rule } from '../../support/server/administration.ts';
import { ask } from '../../support/ask.ts';
import { startTestServer } from '../../support/server/start-server.ts';

const caller = 'caller';
const group = 'api.depot.example';
const at = `/apis/${group}/v1`;

/** Two resources, each with subresources, and deeper paths: in every group of custom APIs. */
const moduleOfDepot = `
const groups = ['console.api.depot.example', 'uc.api.depot.example', 'api.depot.example'];
const shapes = ['boxes', 'boxes/{name}', 'boxes/{name}/lid', 'boxes/{name}/seal', 'crates/{name}/lid',
  'boxes/{name}/lid/hinge', 'boxes/{name}/lid/hinge/pin'];
const paths = groups.flatMap((group) => shapes.map((shape) => \`/apis/\${group}/v1/\${shape}\`));
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const events = async function* () { yield { data: 'served' }; };
const handler = ({ headers }) => headers.accept === 'text/event-stream' ? { events: events() } : { body: 'served' };
const own = '/apis/depot.example/v1/boxes/{name}/feed';
export default {
  types: [{ group: 'depot.example', version: 'v1', kind: 'Box', singular: 'box', plural: 'boxes',
    schema: { type: 'object', properties: { spec: { type: 'object' } } } }],
  routes: [...paths.flatMap((path) => methods.map((method) => ({ method, path, handler }))),
    { method: 'GET', path: own, handler }],
  sockets: [...paths, own].map((path) => ({ path, handler: ({ send }) => { send('served'); } })),
};
`;

const plugins = {
  depot: { 'plugin.yaml': manifestYaml('depot', { main: 'main.mjs' }), 'main.mjs': moduleOfDepot },
  other: {
    'plugin.yaml': manifestYaml('other', { main: 'main.mjs' }),
    'main.mjs':
      "export default { routes: [{ method: 'GET', path: '/apis/api.other.example/v1/boxes/{name}', handler: () => " +
      '({ body: 1 }) }] };\n',
  },
};

type Case = {
  readonly what: string;
  readonly rule: Rule;
  /**
   * `METHOD path`; without a leading slash beneath `at`. Each GET is also asked for as server-sent events, as a
   * WebSocket, and with `?watch=true`.
   */
  readonly allows: readonly string[];
  readonly refuses: readonly string[];
};

const resource = (resources: string, verbs: string, more: Rule = {}): Rule => ({
  apiGroups: [group],
  resources: resources.split(','),
  verbs: verbs.split(','),
  ...more,
});
const paths = (urls: string, verbs: string): Rule => ({ nonResourceURLs: urls.split(','), verbs: verbs.split(',') });

const cases: readonly Case[] = [
  {
    what: 'R to list',
    rule: resource('boxes', 'list'),
    allows: ['GET boxes', 'GET boxes/', 'HEAD boxes'],
    refuses: ['GET boxes/a', 'GET boxes/a/lid', 'GET boxes/a/lid/hinge', 'POST boxes', 'DELETE boxes'],
  },
  {
    what: 'R to get',
    rule: resource('boxes', 'get'),
    allows: ['GET boxes/a', 'GET boxes/-', 'GET boxes/%61', 'GET boxes//a/', 'HEAD boxes/a'],
    refuses: ['GET boxes', 'GET boxes/a/lid', 'PUT boxes/a', 'GET crates/a/lid'],
  },
  {
    what: 'R to watch, which nothing here is',
    rule: resource('boxes,boxes/lid', 'watch'),
    allows: [],
    refuses: ['GET boxes', 'GET boxes/a', 'GET boxes/a/lid'],
  },
  {
    what: 'R to write',
    rule: resource('boxes', 'create,update,patch,delete'),
    allows: ['POST boxes', 'PUT boxes/a', 'PATCH boxes/a', 'DELETE boxes/a', 'PUT boxes', 'PATCH boxes'],
    refuses: ['POST boxes/a', 'DELETE boxes', 'GET boxes', 'POST boxes/a/lid', 'PUT boxes/a/lid'],
  },
  {
    what: 'R to delete the collection',
    rule: resource('boxes', 'deletecollection'),
    allows: ['DELETE boxes'],
    refuses: ['DELETE boxes/a', 'DELETE boxes/a/lid'],
  },
  {
    what: 'R/S to get',
    rule: resource('boxes/lid', 'get'),
    allows: ['GET boxes/a/lid', 'GET boxes/-/lid'],
    refuses: [
      'GET boxes/a',
      'GET boxes',
      'GET boxes/a/seal',
      'GET crates/a/lid',
      'GET boxes/a/lid/hinge',
      'POST boxes/a/lid',
    ],
  },
  {
    what: 'R/S to create',
    rule: resource('boxes/lid', 'create'),
    allows: ['POST boxes/-/lid', 'POST boxes/a/lid'],
    refuses: ['POST boxes/-/seal', 'POST boxes', 'POST boxes/-', 'POST boxes/a/lid/hinge', 'GET boxes/-/lid'],
  },
  {
    what: '*/S',
    rule: resource('*/lid', 'get'),
    allows: ['GET boxes/a/lid', 'GET crates/a/lid'],
    refuses: ['GET boxes/a', 'GET boxes/a/seal', 'GET boxes/a/lid/hinge'],
  },
  {
    what: 'R/*',
    rule: resource('boxes/*', 'get'),
    allows: ['GET boxes/a/lid', 'GET boxes/a/seal'],
    refuses: ['GET boxes', 'GET boxes/a', 'GET crates/a/lid', 'GET boxes/a/lid/hinge'],
  },
  {
    what: 'P/R',
    rule: resource('depot/boxes', 'get,list'),
    allows: ['GET boxes', 'GET boxes/a'],
    refuses: ['GET boxes/a/lid', 'PUT boxes/a', 'GET boxes/a/lid/hinge'],
  },
  {
    what: 'P/R of another plugin',
    rule: resource('other/boxes', '*'),
    allows: [],
    refuses: ['GET boxes', 'GET boxes/a'],
  },
  {
    what: 'P/R/S',
    rule: resource('depot/boxes/lid', 'get,create'),
    allows: ['GET boxes/a/lid', 'POST boxes/-/lid'],
    refuses: ['GET boxes', 'GET boxes/a', 'GET boxes/a/seal', 'GET crates/a/lid'],
  },
  {
    what: 'P/R/S of another plugin',
    rule: resource('other/boxes/lid', '*'),
    allows: [],
    refuses: ['GET boxes/a/lid', 'GET boxes/a'],
  },
  {
    what: '*',
    rule: resource('*', '*'),
    allows: ['GET boxes', 'GET boxes/a', 'GET boxes/a/lid', 'DELETE boxes', 'POST boxes/-/lid'],
    refuses: ['GET boxes/a/lid/hinge', 'POST boxes/a', 'POST boxes/-'],
  },
  {
    what: 'a name',
    rule: resource('boxes', '*', { resourceNames: ['a'] }),
    allows: ['GET boxes/a', 'PUT boxes/a', 'GET boxes?fieldSelector=metadata.name%3Da'],
    refuses: [
      'GET boxes/ab',
      'GET boxes/-',
      'GET boxes',
      'POST boxes',
      'DELETE boxes',
      'GET boxes?fieldSelector=metadata.name%3Db',
    ],
  },
  {
    what: 'the name -',
    rule: resource('boxes,boxes/lid', '*', { resourceNames: ['-'] }),
    allows: ['GET boxes/-', 'GET boxes/-/lid', 'POST boxes/-/lid'],
    refuses: ['GET boxes/a', 'POST boxes/a/lid', 'POST boxes/-', 'GET boxes'],
  },
  {
    what: 'names by a pattern, of a subresource',
    rule: resource('boxes/lid', 'get', { resourceNames: ['a*', 'z'] }),
    allows: ['GET boxes/a/lid', 'GET boxes/ab/lid', 'GET boxes/z/lid'],
    refuses: ['GET boxes/b/lid', 'GET boxes/zz/lid', 'GET boxes/a'],
  },
  {
    what: 'a longer path',
    rule: paths(`${at}/boxes/a/lid/hinge`, 'get'),
    allows: ['GET boxes/a/lid/hinge', 'HEAD boxes/a/lid/hinge'],
    refuses: ['GET boxes/b/lid/hinge', 'GET boxes/a/lid/hinge/pin', 'PUT boxes/a/lid/hinge', 'GET boxes/a/lid'],
  },
  {
    what: 'a longer path by its beginning',
    rule: paths(`${at}/boxes/*`, 'get'),
    allows: ['GET boxes/a/lid/hinge', 'GET boxes/a/lid/hinge/pin'],
    refuses: ['GET boxes', 'GET boxes/a', 'GET boxes/a/lid', 'POST boxes/a', 'PATCH boxes/a/lid/hinge'],
  },
  {
    what: 'a beginning that ends within a segment',
    rule: paths(`${at}/boxes/a/lid/hin*`, 'get'),
    allows: [],
    refuses: ['GET boxes/a/lid/hinge'],
  },
  {
    what: 'a longer path, all verbs by their methods',
    rule: paths(`${at}/boxes/a/lid/hinge`, 'post,put,patch,delete'),
    allows: ['POST boxes/a/lid/hinge', 'PUT boxes/a/lid/hinge', 'PATCH boxes/a/lid/hinge', 'DELETE boxes/a/lid/hinge'],
    refuses: ['GET boxes/a/lid/hinge'],
  },
  {
    what: 'POST of a name',
    rule: paths(`${at}/boxes/a`, 'create'),
    allows: ['POST boxes/a', 'POST boxes/%61'],
    refuses: ['POST boxes/-', 'POST boxes', 'GET boxes/a', 'PUT boxes/a', 'POST boxes/a/lid'],
  },
  {
    what: 'POST of a name by its method',
    rule: paths(`${at}/boxes/*`, 'post'),
    allows: ['POST boxes/a', 'POST boxes/-', 'POST boxes/a/lid/hinge'],
    refuses: ['POST boxes', 'POST boxes/a/lid', 'GET boxes/a'],
  },
  {
    what: 'a path that is a resource',
    rule: paths(`${at}/boxes,${at}/boxes/a,${at}/boxes/a/lid`, '*'),
    allows: ['POST boxes/a'],
    refuses: ['GET boxes', 'GET boxes/a', 'GET boxes/a/lid', 'POST boxes', 'PUT boxes/a'],
  },
  ...['console.api.depot.example', 'uc.api.depot.example', 'api.depot.example'].map((own, _place, all): Case => ({
    what: `the group ${own}`,
    rule: { apiGroups: [own], resources: ['boxes', 'boxes/lid'], verbs: ['*'] },
    allows: ['boxes', 'boxes/a', 'boxes/a/lid'].map((path) => `GET /apis/${own}/v1/${path}`),
    refuses: [
      ...all.filter((another) => another !== own).map((another) => `GET /apis/${another}/v1/boxes/a`),
      'GET /apis/depot.example/v1/boxes/a/feed',
    ],
  })),
  {
    what: 'any group',
    rule: { apiGroups: ['*'], resources: ['boxes'], verbs: ['get'] },
    allows: ['GET boxes/a', 'GET /apis/console.api.depot.example/v1/boxes/a'],
    refuses: ['GET boxes', 'GET boxes/a/lid'],
  },
  {
    what: 'the core group',
    rule: { apiGroups: [''], resources: ['*'], verbs: ['*'] },
    allows: [],
    refuses: ['GET boxes', 'GET boxes/a/lid'],
  },
  {
    what: 'no group',
    rule: { apiGroups: [], resources: ['*'], verbs: ['*'] },
    allows: [],
    refuses: ['GET boxes', 'GET boxes/a/lid'],
  },
  {
    what: 'a subresource of a type',
    rule: { apiGroups: ['depot.example'], resources: ['depot/boxes/feed'], verbs: ['get'] },
    allows: ['GET /apis/depot.example/v1/boxes/a/feed'],
    refuses: ['GET boxes/a'],
  },
];

/** Every way to request a read: authorization must treat all of them as the same request. */
const ways = [
  { title: '', query: '', asked: {}, served: 200 },
  { title: ' with watch=true', query: 'watch=true', asked: {}, served: 200 },
  { title: ' as events', query: '', asked: { headers: { accept: 'text/event-stream' } }, served: 200 },
  { title: ' as a socket', query: '', asked: { upgrade: true }, served: 101 },
] as const;

async function unlike(origin: string, call: string, isAllowed: boolean): Promise<readonly string[]> {
  const [method = '', path = ''] = call.split(' ');
  const wrong: string[] = [];
  for (const { title, query, asked, served } of method === 'GET' ? ways : ways.slice(0, 1)) {
    const target =
      (path.startsWith('/') ? path : `${at}/${path}`) +
      (query === '' ? '' : `${path.includes('?') ? '&' : '?'}${query}`);
    const { status } = await ask(origin, target, {
      method,
      headOnly: true,
      ...asked,
      headers: { ...as(caller), ...('headers' in asked ? asked.headers : {}) },
    });
    if (status !== (isAllowed ? served : 403)) wrong.push(`${call}${title}: ${String(status)}`);
  }
  return wrong;
}

test('each form of a rule allows exactly its own custom APIs, in every transport', async (t) => {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, plugins);
  const server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  t.teardown(async () => server.remove());
  const administration = new Administration(server.url);
  await administration.user(caller);
  await administration.role('one-rule');
  await administration.bind('caller', 'one-rule', caller);
  for (const { what, rule, allows, refuses } of cases) {
    await administration.merge('roles', 'one-rule', { rules: [rule] });
    const wrong: string[] = [];
    for (const call of allows) wrong.push(...(await unlike(server.url, call, true)));
    for (const call of refuses) wrong.push(...(await unlike(server.url, call, false)));
    t.strictSame(wrong, [], what);
  }
});
