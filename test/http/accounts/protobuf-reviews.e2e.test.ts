import t, { test } from 'tap';

import { enveloped, message } from '../../support/kubernetes-protobuf.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(async () => server.remove());

const authorization = 'authorization.k8s.io/v1';
const protobuf = 'application/vnd.kubernetes.protobuf';

async function post(path: string, body: Uint8Array, contentType = protobuf, method = 'POST') {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: adminAuthorization, 'content-type': contentType, accept: `${protobuf}, */*` },
    body,
  });
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    body: JSON.parse(await response.text()),
  };
}

const reviews: readonly (readonly [kind: string, apiVersion: string, raw: Uint8Array, status: object])[] = [
  [
    'SelfSubjectAccessReview',
    authorization,
    message([
      [1, message([[8, message([[1, 0]])]])],
      [
        2,
        message([
          [
            1,
            message([
              [1, 'default'],
              [2, 'get'],
              [3, ''],
              [4, ''],
              [5, 'users'],
              [6, ''],
              [7, ''],
            ]),
          ],
        ]),
      ],
      [
        3,
        message([
          [1, 0],
          [2, ''],
          [3, ''],
          [4, 0],
        ]),
      ],
    ]),
    { allowed: true },
  ],
  [
    'SubjectAccessReview',
    authorization,
    message([
      [
        2,
        message([
          [
            2,
            message([
              [1, '/metrics'],
              [2, 'get'],
            ]),
          ],
          [3, 'nobody'],
          [4, 'some'],
        ]),
      ],
    ]),
    { allowed: false },
  ],
  ['SelfSubjectRulesReview', authorization, message([[2, message([[1, 'default']])]]), { incomplete: false }],
  ['SelfSubjectReview', 'authentication.k8s.io/v1', message([]), { userInfo: { username: 'admin' } }],
];

for (const [kind, apiVersion, raw, status] of reviews) {
  test(`a ${kind} as protobuf is answered in JSON`, async (t) => {
    const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
    const answered = await post(path, enveloped({ apiVersion, kind }, raw));
    t.equal(answered.status, 201);
    t.match(answered.contentType, /^application\/json/u);
    t.match(answered.body, { kind, apiVersion, status });
  });
}

test('protobuf that is not the review of the path is refused with the reason', async (t) => {
  const path = `/apis/${authorization}/selfsubjectaccessreviews`;
  const [, , raw] = reviews[0]!;
  const whole = enveloped({ apiVersion: authorization, kind: 'SelfSubjectAccessReview' }, raw);
  const withoutResource = message([[2, message([[1, message([[2, 'get']])]])]]);
  const cases: readonly (readonly [body: Uint8Array, status: number, message: RegExp])[] = [
    [whole.subarray(0, -1), 400, /the body is not valid: the message is truncated/u],
    [enveloped({ apiVersion: 'v1', kind: 'Pod' }, raw), 400, /the apiVersion of the body must be/u],
    [enveloped({ apiVersion: authorization, kind: 'SelfSubjectReview' }, raw), 400, /the kind of the body must be/u],
    [Buffer.from('{"spec":{}}'), 400, /begin with "k8s"/u],
    [Buffer.alloc(0), 400, /begin with "k8s"/u],
    [enveloped({}, withoutResource), 422, /spec\.resourceAttributes\.resource: is required/u],
    [enveloped({}, message([[9, new Uint8Array(65_536)]])), 413, /at most 65536 bytes/u],
  ];
  for (const [body, status, reason] of cases) {
    const refused = await post(path, body);
    t.equal(refused.status, status);
    t.match(refused.body.message, reason);
  }
});

test('the largest protobuf body is read', async (t) => {
  const [, , raw] = reviews[0]!;
  const rest = enveloped({}, Buffer.concat([raw, message([[90, new Uint8Array(60_000)]])])).length - 60_000;
  const padded = Buffer.concat([raw, message([[90, new Uint8Array(65_536 - rest)]])]);
  const body = enveloped({}, padded);
  t.equal(body.length, 65_536);
  t.equal((await post(`/apis/${authorization}/selfsubjectaccessreviews`, body)).status, 201);
});

test('objects are not taken as protobuf, and nothing is written', async (t) => {
  const path = '/apis/example.com/v1alpha1/widgets';
  const refused = await post(path, enveloped({ apiVersion: 'example.com/v1alpha1', kind: 'Widget' }, message([])));
  t.equal(refused.status, 415);
  t.match(refused.body.message, /the body must be application\/json/u);
  const list = await fetch(server.url + path, { headers: { authorization: adminAuthorization } });
  t.match(await list.json(), { total: 0 });
});
