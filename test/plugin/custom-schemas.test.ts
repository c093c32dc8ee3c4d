import { test } from 'tap';

import { decodeDefinition } from '../../src/plugin/load/definition.ts';
import type { Endpoints } from '../../src/plugin/api/endpoints.ts';
import { startEdge } from '../http/edge-server.ts';

const path = '/apis/api.example.com/v1/things/-/import';
const handler = (): unknown => undefined;

function decoded(...routes: readonly object[]): Endpoints {
  const result = decodeDefinition({ routes });
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result.definition;
}

test('an invalid schema refuses the plugin and names the route', (t) => {
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ request: { body: { type: 'strin' } } }, /^POST \/apis\S+\.request\.body: /u],
    [{ request: { body: 7 } }, /request\.body: must be a JSON Schema object/u],
    [{ request: { body: { pattern: '(a+)+$' } } }, /request\.body: pattern: /u],
    [{ request: { body: { $ref: 'https://elsewhere.example/' } } }, /must stay inside the schema/u],
    [{ request: { query: { size: { type: 'integer' } } } }, /request\.query\.size\.type: must be "string"/u],
    [{ request: { headers: {} } }, /request\.headers: is not known; must be one of query, body/u],
    [{ request: [] }, /request: must be an object/u],
    [{ responses: { 99: {} } }, /responses\.99: must be a status/u],
    [{ responses: { 200: { schema: { type: 'strin' } } } }, /responses\.200\.schema: /u],
    [{ responses: { 200: { body: {} } } }, /responses\.200\.body: is not known; must be one of description, schema/u],
    [{ method: 'GET', request: { body: {} } }, /a GET has no body/u],
    [{ summary: 7 }, /summary: must be a string/u],
  ];
  for (const [route, message] of refused) {
    const result = decodeDefinition({ routes: [{ method: 'POST', path, handler, ...route }] });
    t.match(result, { ok: false, problems: [message] }, JSON.stringify(route));
  }
  t.end();
});

test('a request and an answer that break the schema are refused by pointer', async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  let answer: unknown;
  const spec = {
    type: 'object',
    properties: { n: { type: 'integer' }, at: { type: 'string' } },
    required: ['n'],
    additionalProperties: false,
  };
  edge.pluginRoutes.mount(
    'things',
    decoded({
      method: 'POST',
      path,
      summary: 'Imports',
      handler: () => answer,
      request: { query: { mode: { enum: ['fast', 'safe'] }, tag: { type: 'array', maxItems: 2 } }, body: spec },
      responses: { 200: { description: 'done', schema: spec } },
    }),
  );
  const call = async (query: string, body?: unknown): Promise<readonly [number, unknown]> => {
    const response = await edge.call(path + query, {
      method: 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    return [response.status, text === '' ? undefined : JSON.parse(text)];
  };
  answer = { body: { n: 1, at: new Date(0), none: undefined } };
  t.match(
    await call('?mode=fast&tag=a&other=1', { n: 2 }),
    [200, { n: 1, at: '1970-01-01T00:00:00.000Z' }],
    'a value is judged as the JSON it is sent as',
  );
  t.match(await call('?mode=slow', { n: 1 }), [400, { reason: 'BadRequest', errors: [{ pointer: '/mode' }] }]);
  t.match(await call('?mode=fast&mode=safe', { n: 1 }), [400, { errors: [{ pointer: '/mode' }] }]);
  t.match(await call('?tag=a&tag=b&tag=c', { n: 1 }), [400, { errors: [{ pointer: '/tag' }] }]);
  t.match(await call('', { n: 'one', more: 1 }), [
    422,
    { reason: 'Invalid', errors: [{ pointer: '/more' }, { pointer: '/n' }] },
  ]);
  t.match(await call(''), [422, { errors: [{ pointer: '', detail: 'a request body is required' }] }]);
  answer = { status: 201, body: 'anything' };
  t.match(await call('', { n: 1 }), [201, 'anything'], 'a status nobody speaks of is not judged');
  for (const wrong of [
    { body: { n: 'x' } },
    { status: 200 },
    { headers: { 'content-type': 'application/json' }, body: '{"n":"x"}' },
  ]) {
    answer = wrong;
    t.match(await call('', { n: 1 }), [500, { reason: 'InternalError' }], JSON.stringify(wrong));
    const [line] = edge.lines.filter(({ level }) => level === 'error').slice(-1);
    t.match(line, {
      message: 'a plugin route failed',
      fields: {
        plugin: 'things',
        route: `POST ${path}`,
        violations: [{ pointer: 'headers' in wrong || wrong.body !== undefined ? '/n' : '' }],
      },
    });
  }
  t.match(edge.pluginRoutes.described(), [
    {
      plugin: 'things',
      kind: 'route',
      method: 'POST',
      path,
      summary: 'Imports',
      body: spec,
      parameters: [
        { name: 'mode', in: 'query' },
        { name: 'tag', in: 'query' },
      ],
      responses: [{ status: 200, description: 'done', schema: spec }],
    },
  ]);
});

test('of two routes for one path the more specific one answers', async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  const route = (name: string): object => ({
    method: 'POST',
    path: `/apis/api.example.com/v1/things/${name}/import`,
    handler: () => ({ body: name }),
  });
  edge.pluginRoutes.mount('things', decoded(route('{name}'), route('-')));
  t.equal(await (await edge.call(path, { method: 'POST' })).json(), '-');
  t.equal(await (await edge.call(path.replace('-', 'a'), { method: 'POST' })).json(), '{name}');
});

test('a misspelt member of a controller, route or socket refuses the plugin', async (t) => {
  const route = { method: 'POST', path, handler };
  const socket = { path, handler };
  const controller = { apiVersion: 'api.example.com/v1', path: '/things' };
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ routes: [{ ...route, sumary: 'A' }] }, /^routes\[0\]\.sumary: is not known; did you mean "summary"\?$/u],
    [{ sockets: [{ ...socket, request: {} }] }, /^sockets\[0\]\.request: is not known/u],
    [{ controllers: [{ ...controller, route: [] }] }, /^controllers\[0\]\.route: is not known; did you mean "routes"/u],
  ];
  for (const [definition, problem] of refused)
    t.match(decodeDefinition(definition), { ok: false, problems: [problem] }, JSON.stringify(definition));
});

test('a response with a misspelt member is a bug of the plugin', async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  edge.pluginRoutes.mount('things', decoded({ method: 'GET', path, handler: () => ({ boddy: 'A' }) }));
  t.equal((await edge.call(path)).status, 500);
});

test('a parameter with the schema of an array is an array, even if it is not repeated', async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  const tags = { type: 'array', items: { type: 'string' } };
  edge.pluginRoutes.mount(
    'things',
    decoded({
      method: 'GET',
      path,
      request: { query: { tag: tags } },
      handler: ({ query }: { readonly query: unknown }) => ({ body: query }),
    }),
  );
  const answered = async (query: string): Promise<unknown> => (await edge.call(path + query)).json();
  t.strictSame(await answered('?tag=a&other=b'), { tag: ['a'], other: 'b' });
  t.strictSame(await answered('?tag=a&tag=b'), { tag: ['a', 'b'] });
  t.strictSame(await answered(''), {});
});
