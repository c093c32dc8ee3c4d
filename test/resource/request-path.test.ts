import fc from 'fast-check';
import { test } from 'tap';

import { requestTargetBytesMax } from '../../src/limits/requests.ts';
import {
  nonResourceRequest,
  queryOf,
  requestInfo,
  requestTo,
  resourceRequest,
} from '../../src/resource/query/request-path.ts';

/** Method, target, and `verb group/version/resource[/name[/subresource]]`, `verb path` or `malformed`. */
const table: readonly (readonly [string, string, string])[] = [
  ['GET', '/apis/example.com/v1/widgets', 'list example.com/v1/widgets'],
  ['HEAD', '/apis/example.com/v1/widgets', 'list example.com/v1/widgets'],
  ['POST', '/apis/example.com/v1/widgets', 'create example.com/v1/widgets'],
  ['DELETE', '/apis/example.com/v1/widgets', 'deletecollection example.com/v1/widgets'],
  ['PUT', '/apis/example.com/v1/widgets', 'update example.com/v1/widgets'],
  ['GET', '/apis/example.com/v1/widgets/w1', 'get example.com/v1/widgets/w1'],
  ['HEAD', '/apis/example.com/v1/widgets/w1', 'get example.com/v1/widgets/w1'],
  ['PUT', '/apis/example.com/v1/widgets/w1', 'update example.com/v1/widgets/w1'],
  ['PATCH', '/apis/example.com/v1/widgets/w1', 'patch example.com/v1/widgets/w1'],
  ['DELETE', '/apis/example.com/v1/widgets/w1', 'delete example.com/v1/widgets/w1'],
  ['OPTIONS', '/apis/example.com/v1/widgets/w1', 'options example.com/v1/widgets/w1'],
  ['PUT', '/apis/example.com/v1/widgets/w1/status', 'update example.com/v1/widgets/w1/status'],
  ['POST', '/apis/example.com/v1/widgets/-/run', 'create example.com/v1/widgets/-/run'],
  ['POST', '/apis/example.com/v1/widgets/w1', 'create /apis/example.com/v1/widgets/w1'],
  ['POST', '/apis/example.com/v1/widgets/-', 'create /apis/example.com/v1/widgets/-'],
  ['GET', '/apis/example.com/v1/widgets/-', 'get example.com/v1/widgets/-'],
  ['GET', '/api/v1alpha1/users', 'list /v1alpha1/users'],
  ['GET', '/api/v1alpha1/users/me/roles', 'get /v1alpha1/users/me/roles'],
  ['GET', '/api/v1alpha1', 'get /api/v1alpha1'],
  ['GET', '/apis/example.com/v1', 'get /apis/example.com/v1'],
  ['GET', '/apis/a/b/c/d/e/f', 'get /apis/a/b/c/d/e/f'],
  ['GET', '/api/a/b/c/d/e', 'get /api/a/b/c/d/e'],
  ['DELETE', '/apis/a/b/c/d/e/f', 'delete /apis/a/b/c/d/e/f'],
  ['POST', '/login', 'create /login'],
  ['GET', '/', 'get /'],
  ['GET', '/healthz', 'get /healthz'],
  ['GET', '/apiss/example.com/v1/widgets', 'get /apiss/example.com/v1/widgets'],
  ['GET', '//apis///example.com/v1//widgets/w1/', 'get example.com/v1/widgets/w1'],
  ['GET', '/apis/example.com/v1/widgets/?watch=false', 'list example.com/v1/widgets'],
  ['GET', '/apis/example.com/v1/widgets/%77%31', 'get example.com/v1/widgets/w1'],
  ['GET', '/%61pis/example.com/v1/widgets', 'list example.com/v1/widgets'],
  ['GET', '/apis/example.com/v1/widgets/%2577', 'get example.com/v1/widgets/%77'],
  ['GET', '/apis/example.com/v1/widgets/%2525', 'get example.com/v1/widgets/%25'],
  ['GET', 'http://host:80/apis/example.com/v1/widgets', 'list example.com/v1/widgets'],
  ['GET', '/apis/example.com/v1/widgets/...', 'get example.com/v1/widgets/...'],
  ['GET', '/apis/example.com/v1/widgets/a%2Fb', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/a%2fb', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/a%5Cb', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/a\\b', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/a%00b', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/..', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/.', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/%2e%2E', 'malformed'],
  ['GET', '/apis/../healthz', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/%zz', 'malformed'],
  ['GET', '/apis/example.com/v1/widgets/%ff', 'malformed'],
  ['GET', '/healthz/%', 'malformed'],
];

function textOf(method: string, target: string, asks: 'watch' | 'no watch' = 'no watch'): string {
  const info = requestInfo(method, target, asks);
  switch (info.kind) {
    case 'malformed':
      return 'malformed';
    case 'non-resource':
      return `${info.verb} ${info.path}`;
    case 'resource':
      return (
        `${info.verb} ` +
        [info.group, info.version, info.resource, info.name, info.subresource]
          .filter((part) => part !== undefined)
          .join('/')
      );
  }
}

test('a method and a path mean one verb and one resource, a non-resource path, or are malformed', async (t) => {
  for (const [method, target, expected] of table) t.equal(textOf(method, target), expected, `${method} ${target}`);
});

test('a watch is a GET of a collection or an item, and of nothing else', async (t) => {
  t.equal(textOf('GET', '/apis/g/v1/widgets', 'watch'), 'watch g/v1/widgets');
  t.equal(textOf('GET', '/apis/g/v1/widgets/w1', 'watch'), 'watch g/v1/widgets/w1');
  t.equal(textOf('HEAD', '/apis/g/v1/widgets', 'watch'), 'watch g/v1/widgets');
  t.equal(textOf('POST', '/apis/g/v1/widgets', 'watch'), 'create g/v1/widgets');
  t.equal(textOf('GET', '/apis/g/v1/widgets/w1/status', 'watch'), 'get g/v1/widgets/w1/status');
  t.equal(textOf('GET', '/healthz', 'watch'), 'get /healthz');
});

test('every spelling of a path means the resource of its decoded segments', async (t) => {
  const segment = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((text) => !/[/\\\0]/u.test(text) && text !== '.' && text !== '..');
  const spelled = segment.chain((text) =>
    fc
      .constantFrom(
        encodeURIComponent(text),
        [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
      )
      .map((raw) => ({ text, raw })),
  );
  fc.assert(
    fc.property(
      fc.tuple(spelled, spelled, spelled, spelled),
      fc.array(fc.constantFrom('/', '//', '///'), { minLength: 6, maxLength: 6 }),
      (parts, slashes) => {
        const target = ['apis', ...parts.map(({ raw }) => raw), '']
          .map((raw, index) => `${slashes[index] ?? '/'}${raw}`)
          .join('');
        const info = requestInfo('GET', target, 'no watch');
        return (
          info.kind === 'resource' &&
          info.group === parts[0].text &&
          info.version === parts[1].text &&
          info.resource === parts[2].text &&
          info.name === parts[3].text
        );
      },
    ),
  );
  t.pass();
});

test('no target throws, and no segment contains a slash', async (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom('GET', 'POST', 'OPTIONS'),
      fc.string({ unit: fc.constantFrom(...Array.from('/apis.%2fF5c0?&=\\x ')) }),
      (method, target) => {
        const info = requestInfo(method, `/${target}`, 'no watch');
        return info.kind === 'malformed' || info.segments.every((segment) => segment !== '' && !segment.includes('/'));
      },
    ),
  );
  t.pass();
});

test('a target at the bound is read, one byte more is malformed', async (t) => {
  const padding = 'a'.repeat(requestTargetBytesMax - '/x?'.length);
  t.equal(textOf('GET', `/x?${padding}`), 'get /x');
  t.equal(textOf('GET', `/x?${padding}a`), 'malformed');
});

test('query parameters are read up to the bound', async (t) => {
  t.type(queryOf(`/x?${'a=1&'.repeat(64)}`), URLSearchParams);
  t.type(queryOf(`/x?${'a=1&'.repeat(65)}`), 'string');
  t.same(queryOf('/x'), new URLSearchParams());
});

test('a list or watch selected by one field selector on the name is recognized, and no other', async (t) => {
  const selected = (method: string, target: string, asks: 'watch' | 'no watch' = 'no watch'): string | undefined => {
    const info = requestInfo(method, target, asks);
    return info.kind === 'resource' ? info.selectedName : undefined;
  };
  const widgets = '/apis/example.com/v1/widgets';
  t.equal(selected('GET', `${widgets}?fieldSelector=metadata.name=a`), 'a');
  t.equal(selected('GET', `${widgets}?fieldSelector=metadata.name%3D%3Da&labelSelector=x`, 'watch'), 'a');
  for (const query of [
    'fieldSelector=metadata.name!=a',
    'fieldSelector=metadata.name=(a,b)',
    'fieldSelector=metadata.name=a,spec.x=1',
    'fieldSelector=metadata.name=a&fieldSelector=metadata.name=b',
    'fieldSelector=spec.name=a',
    'fieldSelector=(',
  ]) {
    t.equal(selected('GET', `${widgets}?${query}`), undefined, query);
  }
  t.equal(selected('DELETE', `${widgets}?fieldSelector=metadata.name=a`), undefined, 'a deletion is not named so');
  t.equal(selected('GET', `${widgets}/b?fieldSelector=metadata.name=a`), undefined, 'a path has its own name');
});

test('a request without a path equals the request of its path', async (t) => {
  for (const [verb, target] of [
    ['list', '/apis/g.example/v1/things'],
    ['get', '/api/v1alpha1/users/jane'],
    ['get', '/apis/g.example/v1/things/a/status'],
  ] as const) {
    const info = requestInfo('GET', target, 'no watch');
    t.ok(info.kind === 'resource');
    if (info.kind !== 'resource') continue;
    const { group, version, resource, name, subresource } = info;
    t.strictSame(
      resourceRequest(verb, {
        group,
        version,
        resource,
        ...(name === undefined ? {} : { name }),
        ...(subresource === undefined ? {} : { subresource }),
      }),
      info,
    );
  }
});

test('a review of a path outside of resources gets the decision of the request', async (t) => {
  t.strictSame(nonResourceRequest('get', '/healthz/'), requestInfo('GET', '/healthz', 'no watch'));
  t.strictSame(
    nonResourceRequest('create', '/apis/a.example/v1/things/install'),
    requestInfo('POST', '/apis/a.example/v1/things/install', 'no watch'),
  );
  t.strictSame(nonResourceRequest('post', '/login'), requestInfo('POST', '/login', 'no watch'));
  t.strictSame(nonResourceRequest('update', '/a'), requestInfo('PUT', '/a', 'no watch'));
  t.match(nonResourceRequest('*', '/a/*'), { verb: '*', method: '*', path: '/a/*' });
  t.match(nonResourceRequest('constructor', '/'), { verb: 'constructor', method: 'constructor', path: '/' });
});

test('a subresource without an object is under "-"', async (t) => {
  const request = resourceRequest('create', {
    group: 'a.example',
    version: 'v1',
    resource: 'things',
    subresource: 'sub',
  });
  t.equal(request.path, '/apis/a.example/v1/things/-/sub');
  t.equal(request.name, undefined);
});

test('a verb and a path mean the request that they would make, of a resource or not', async (t) => {
  for (const [verb, method, target] of [
    ['get', 'GET', '/apis/g.example/v1/things'],
    ['get', 'GET', '/apis/g.example/v1/things/a'],
    ['delete', 'DELETE', '/api/v1alpha1/users'],
    ['put', 'PUT', '/api/v1alpha1/users/-/password'],
    ['create', 'POST', '/apis/g.example/v1/things'],
    ['post', 'POST', '/apis/g.example/v1/things/install'],
    ['get', 'GET', '/metrics'],
    ['get', 'GET', '/apis/g.example/v1'],
  ] as const)
    t.strictSame(requestTo(verb, target), requestInfo(method, target, 'no watch'), `${verb} ${target}`);
  t.match(requestTo('watch', '/apis/g.example/v1/things'), { kind: 'resource', verb: 'watch' });
});
