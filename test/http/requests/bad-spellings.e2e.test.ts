import { test, type Test } from 'tap';

import { Administration, as } from '../../support/server/administration.ts';
import { ask, askRaw, statusesOf } from '../../support/ask.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
const marker = 'the title of the requested widget';
/** May read the one widget `held`, and the metrics; nothing else at all. */
const reader = as('reader');

async function stage(t: Test): Promise<{ readonly server: TestServer; readonly administration: Administration }> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const administration = new Administration(server.url);
  for (const name of ['held', 'other'])
    await administration.call('POST', widgets, { metadata: { name }, spec: { title: marker } });
  await administration.emptyAllRoles();
  await administration.user('reader');
  await administration.role('reading', {
    rules: [
      { apiGroups: ['example.com'], resources: ['widgets'], resourceNames: ['held'], verbs: ['get'] },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ],
  });
  await administration.bind('reading', 'reading', 'reader');
  return { server, administration };
}

type Spelling = readonly [path: string, toReader: number, toAdministrator: number];

/** Spelled otherwise, and the same request all the same: the rule for it is the one that counts. */
const same: readonly Spelling[] = [
  `${widgets}/held`,
  `/${widgets}/held`,
  `//apis///example.com//v1alpha1/widgets/held`,
  `${widgets}/held/`,
  `${widgets}/held//`,
  '/apis/example.com/v1alpha1/%77idgets/held',
  '/%61pis/example%2Ecom/v1alpha1/widgets/%68eld',
  `${widgets}/held?`,
  `${widgets}/held?name=other`,
  `http://elsewhere.example${widgets}/held`,
  `HTTPS://somebody@elsewhere.example${widgets}/held`,
].map((path) => [path, 200, 200] as const);

/** Another request, which the rule is not for. */
const others: readonly Spelling[] = [
  widgets,
  `${widgets}/`,
  `${widgets}/other`,
  `${widgets}/other?name=held`,
  `${widgets}/other?fieldSelector=metadata.name=held`,
].map((path) => [path, 403, 200] as const);

/** Nothing that is served: a rule never reaches it by accident, and nobody does by spelling. */
const nothings: readonly Spelling[] = [
  '/apis/example.com/v1alpha1/WIDGETS/held',
  '/apis/example.com/v1alpha1/Widgets/held',
  '/apis/Example.com/v1alpha1/widgets/held',
  '/Apis/example.com/v1alpha1/widgets/held',
  '/APIS/EXAMPLE.COM/V1ALPHA1/WIDGETS/HELD',
  '/apis/apis/example.com/v1alpha1/widgets/held',
  '/api/apis/example.com/v1alpha1/widgets/held',
  '/apis/example.com/example.com/v1alpha1/widgets/held',
  '/apis/example.com/v1alpha1/widgets/widgets/held',
  '/apis/example.com/v1alpha1/%2577idgets/held',
  `${widgets}%252fheld`,
  `${widgets}/other%252f..%252fheld`,
  `${widgets}/%252e%252e/held`,
  '/apis/example.com/v1alpha1/widgets;held/held',
  '/apis/example.com/v1alpha1/widgets%20/held',
  '/apis/example.com/v1alpha1/%EF%BD%97idgets/held',
  '/apis/example.com%2e/v1alpha1/widgets/held',
  `${widgets}/held/other`,
  `${widgets}/held/widgets/held`,
  `${widgets}/HELD`,
  `${widgets}/held%20`,
  `${widgets}/held%3B`,
  `${widgets}/held%09`,
  `/nowhere?${widgets}/held`,
  `//elsewhere.example${widgets}/held`,
  '/METRICS',
  '/metrics/x',
  '/metrics;x',
  '/metrics%20',
  '/%256detrics',
  '/metrics%3f',
  '/metrics%23',
  '/metrics.',
].map((path) => [path, 403, 404] as const);

/** A rule for a resource says nothing of versions: it is allowed to ask, and there is nothing. */
const otherVersions: readonly Spelling[] = [
  '/apis/example.com/V1ALPHA1/widgets/held',
  '/apis/example.com/v1/widgets/held',
].map((path) => [path, 404, 404] as const);

/** What two readers could take for two things is nobody's request. */
const malformed: readonly Spelling[] = [
  `${widgets}%2fheld`,
  `${widgets}%2Fheld`,
  `${widgets}%5cheld`,
  `${widgets}/other/../held`,
  `${widgets}/other/%2e%2e/held`,
  `${widgets}/other/.%2E/held`,
  `${widgets}/./held`,
  `${widgets}/%2e/held`,
  `${widgets}/other%2f..%2fheld`,
  `${widgets}/held%00`,
  `${widgets}/held%2fother`,
  `${widgets}/held%`,
  `${widgets}/held%zz`,
  `${widgets}/%c0%afheld`,
  `${widgets}/%u0068eld`,
  `${widgets}\\held`,
  '/metrics/..',
  '/metrics%2f',
  `/healthz/..${widgets}/held`,
  `/nowhere#/..${widgets}/held`,
].map((path) => [path, 400, 400] as const);

test('a path in any spelling is authorized as the route that serves it', async (t) => {
  const { server } = await stage(t);
  t.equal((await ask(server.url, '/metrics', { headers: reader })).status, 200);
  for (const path of ['//metrics', '/metrics/', '/%6detrics'])
    t.equal((await ask(server.url, path, { headers: reader })).status, 200, path);
  for (const [path, toReader, toAdministrator] of [...same, ...others, ...nothings, ...otherVersions, ...malformed]) {
    const [answered, administrators, visitors] = [
      await ask(server.url, path, { headers: reader }),
      await ask(server.url, path, { headers: { authorization: adminAuthorization } }),
      await ask(server.url, path),
    ];
    t.strictSame(
      [answered.status, administrators.status, visitors.status],
      [toReader, toAdministrator, toReader === 400 ? 400 : 401],
      path,
    );
    t.equal(answered.text.includes(marker), toReader === 200, `${path} shows the permitted content`);
  }
});

/** Headers as bytes, each a line of its own. */
function head(line: string, headers: readonly string[], body = ''): string {
  return [line, 'Host: localhost', 'Connection: close', ...headers, '', body].join('\r\n');
}

const [asReader, asAdmin] = [
  `Authorization: ${String(reader['authorization'])}`,
  `Authorization: ${adminAuthorization}`,
];

test("two parsers of one request's head cannot disagree", async (t) => {
  const { server } = await stage(t);
  const get = `GET ${widgets}/other HTTP/1.1`;
  const smuggled = head(get, [asAdmin]);
  const heads: readonly (readonly [what: string, bytes: string, statuses: readonly number[]])[] = [
    ['an administrator, once', head(get, [asAdmin]), [200]],
    ['two credentials, the greater last', head(get, [asReader, asAdmin]), [400]],
    ['two credentials, the greater first', head(get, [asAdmin, asReader]), [400]],
    ['one credential twice', head(get, [asAdmin, asAdmin]), [400]],
    [
      'credentials of another case twice',
      head(get, [asReader, asAdmin.replace('Authorization', 'AUTHORIZATION')]),
      [400],
    ],
    ['two credentials in one', head(get, [`${asReader}, ${adminAuthorization}`]), [401]],
    ['a header folded before its value', head(get, [`Authorization:\r\n ${adminAuthorization}`]), [400]],
    ['a header folded within its value', head(get, [asAdmin.replace('Basic ', 'Basic\r\n ')]), [400]],
    ['a credential folded into another header', head(get, [`X-Note: x\r\n ${asAdmin}`]), [400]],
    ['a space before the colon', head(get, [asAdmin.replace(':', ' :')]), [400]],
    ['a NUL', head(get, [`${asAdmin}\0`]), [400]],
    ['a bare CR', head(get, [`X-Note: x\r${asAdmin}`]), [400]],
    ['an underscore for a dash', head(get, [asReader, 'X_Original_URL: /metrics']), [403]],
    ['two hosts', head(get, [asAdmin, 'Host: elsewhere.example']), [400]],
    [
      'two lengths',
      head(
        `POST ${widgets} HTTP/1.1`,
        [asReader, 'Content-Length: 0', `Content-Length: ${String(smuggled.length)}`],
        smuggled,
      ),
      [400],
    ],
    [
      'a length and a transfer coding',
      head(
        `POST ${widgets} HTTP/1.1`,
        [asReader, `Content-Length: ${String(smuggled.length)}`, 'Transfer-Encoding: chunked'],
        `0\r\n\r\n${smuggled}`,
      ),
      [400],
    ],
    [
      'a transfer coding and a length',
      head(
        `POST ${widgets} HTTP/1.1`,
        [asReader, 'Transfer-Encoding: chunked', 'Content-Length: 4'],
        `0\r\n\r\n${smuggled}`,
      ),
      [400],
    ],
    [
      'a coding nobody knows',
      head(`POST ${widgets} HTTP/1.1`, [asReader, 'Transfer-Encoding: xchunked'], `0\r\n\r\n${smuggled}`),
      [400],
    ],
    [
      'a coding that does not end chunked',
      head(`POST ${widgets} HTTP/1.1`, [asReader, 'Transfer-Encoding: chunked, identity'], `0\r\n\r\n${smuggled}`),
      [400],
    ],
    [
      'a spaced-out coding',
      head(`POST ${widgets} HTTP/1.1`, [asReader, 'Transfer-Encoding : chunked'], `0\r\n\r\n${smuggled}`),
      [400],
    ],
    [
      'a body that looks like a request',
      head(`POST ${widgets} HTTP/1.1`, [asReader, `Content-Length: ${String(smuggled.length)}`], smuggled),
      [403],
    ],
    ['no version', `GET ${widgets}/other\r\n\r\n`, [401]],
  ];
  for (const [what, bytes, statuses] of heads) {
    const answered = await askRaw(server.url, bytes);
    t.strictSame(statusesOf(answered), statuses, what);
    t.equal(answered.includes(marker), statuses[0] === 200, `${what} shows nothing`);
  }
});

/** What proxies and frameworks read, and this server does not. */
const claims: readonly Readonly<Record<string, string>>[] = [
  ...[
    'x-original-url',
    'x-rewrite-url',
    'x-original-uri',
    'x-forwarded-uri',
    'x-forwarded-path',
    'x-forwarded-prefix',
    'referer',
  ].map((name) => ({ [name]: `${widgets}/held` })),
  ...[
    'x-forwarded-for',
    'x-real-ip',
    'x-client-ip',
    'x-forwarded-host',
    'true-client-ip',
    'cf-connecting-ip',
    'via',
  ].map((name) => ({ [name]: '127.0.0.1' })),
  ...[
    'x-forwarded-user',
    'x-remote-user',
    'remote-user',
    'x-forwarded-email',
    'x-auth-request-user',
    'x-webauth-user',
    'x-user',
    'x-forwarded-preferred-username',
    'from',
  ].map((name) => ({ [name]: 'admin' })),
  { 'x-forwarded-proto': 'https' },
  { forwarded: 'for=127.0.0.1;proto=https;host=localhost' },
  { 'x-remote-group': 'system:masters', 'x-remote-user': 'admin' },
  { 'proxy-authorization': adminAuthorization },
  { 'x-authorization': adminAuthorization },
  { 'x-csrf-token': 'x' },
  { 'x-forwarded-client-cert': 'Subject="CN=admin"' },
];

test('only known headers set the sender or the target of a request', async (t) => {
  const { server } = await stage(t);
  for (const claimed of claims) {
    const what = JSON.stringify(claimed);
    const statuses = [
      await ask(server.url, `${widgets}/held`, { headers: claimed }),
      await ask(server.url, `${widgets}/other`, { headers: { ...claimed, ...reader } }),
      await ask(server.url, '/nowhere', { headers: { ...claimed, authorization: adminAuthorization } }),
      await ask(server.url, `${widgets}/held`, { headers: { ...claimed, ...reader } }),
    ].map(({ status }) => status);
    t.strictSame(statuses, [401, 403, 404, 200], what);
  }
  for (const name of ['impersonate-user', 'Impersonate-User'])
    t.equal(
      (await ask(server.url, `${widgets}/held`, { headers: { [name]: 'admin', authorization: adminAuthorization } }))
        .status,
      403,
      name,
    );
  for (const name of ['impersonate-group', 'impersonate-uid', 'impersonate-extra-scopes'])
    t.equal((await ask(server.url, `${widgets}/other`, { headers: { [name]: 'admin', ...reader } })).status, 403, name);
});

test('no header, parameter or member overrides the method of a request', async (t) => {
  const { server, administration } = await stage(t);
  const overrides = ['x-http-method-override', 'x-http-method', 'x-method-override', '_method'];
  for (const method of ['DELETE', 'PUT', 'PATCH']) {
    for (const name of overrides) {
      t.equal(
        (await ask(server.url, `${widgets}/held`, { headers: { ...reader, [name]: method } })).status,
        200,
        `GET with ${name}: ${method}`,
      );
      t.equal((await ask(server.url, `${widgets}/held?${name}=${method}`, { headers: reader })).status, 200);
      t.equal(
        (await ask(server.url, `${widgets}/held?${name}=GET`, { method, headers: { ...reader, [name]: 'GET' } }))
          .status,
        403,
        `${method} with ${name}: GET`,
      );
    }
  }
  for (const method of ['POST', 'OPTIONS', 'TRACE', 'PURGE', 'PROPFIND'])
    t.equal(
      (await ask(server.url, `${widgets}/held`, { method, headers: { ...reader, 'x-http-method-override': 'GET' } }))
        .status,
      403,
      method,
    );
  t.equal((await administration.call('GET', `${widgets}/held`)).text.includes(marker), true, 'it is still there');
});
