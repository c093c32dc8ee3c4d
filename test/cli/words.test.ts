import { test } from 'tap';

import { expiryAt } from '../../src/cli/kubeconfig/expiry.ts';
import { reviewTarget } from '../../src/cli/review-target.ts';
import { printable, textTable } from '../../src/cli/text-table.ts';

test('a resource is read from its words', async (t) => {
  t.strictSame(reviewTarget('get', 'posts.content.svc.run', {}), {
    resourceAttributes: { verb: 'get', group: 'content.svc.run', resource: 'posts' },
  });
  t.strictSame(reviewTarget('get', 'users', {}), { resourceAttributes: { verb: 'get', group: '', resource: 'users' } });
  t.strictSame(reviewTarget('get', 'posts.content.svc.run/hello.world', {}), {
    resourceAttributes: { verb: 'get', group: 'content.svc.run', resource: 'posts', name: 'hello.world' },
  });
  t.strictSame(reviewTarget('update', 'users', { name: 'bob', subresource: 'password' }), {
    resourceAttributes: { verb: 'update', group: '', resource: 'users', subresource: 'password', name: 'bob' },
  });
  t.strictSame(reviewTarget('*', '*', {}), { resourceAttributes: { verb: '*', group: '', resource: '*' } });
  t.strictSame(reviewTarget('get', '/healthz/deep', {}), {
    nonResourceAttributes: { path: '/healthz/deep', verb: 'get' },
  });
  for (const words of ['', '.svc.run', 'posts.', 'posts/', 'posts/a/b', 'posts./a'])
    t.throws(() => reviewTarget('get', words, {}), { name: 'CommandFailure', exitCode: 2 }, words);
  t.throws(() => reviewTarget('get', 'posts/a', { name: 'a' }), { name: 'CommandFailure', exitCode: 2 });
  t.throws(() => reviewTarget('get', '/healthz', { name: 'a' }), { name: 'CommandFailure', exitCode: 2 });
  t.throws(() => reviewTarget('get', '/healthz', { subresource: 'a' }), { name: 'CommandFailure', exitCode: 2 });
});

test('an expiry is a span from now, or a time to come', async (t) => {
  const now = Date.parse('2030-01-01T00:00:00.000Z');
  const read: readonly (readonly [text: string, at: string | undefined])[] = [
    ['30d', '2030-01-31T00:00:00.000Z'],
    ['12h', '2030-01-01T12:00:00.000Z'],
    ['90m', '2030-01-01T01:30:00.000Z'],
    ['1w', '2030-01-08T00:00:00.000Z'],
    ['2030-02-01T01:00:00+01:00', '2030-02-01T00:00:00.000Z'],
    ['2030-02-01t00:00:00.5z', '2030-02-01T00:00:00.500Z'],
    ['0d', undefined],
    ['30', undefined],
    ['30y', undefined],
    ['-1d', undefined],
    ['2029-12-31T00:00:00Z', undefined],
    ['2030-02-30T00:00:00Z', undefined],
    ['2030-02-01', undefined],
    ['2030-02-01T00:00:00', undefined],
    ['2030-13-01T00:00:00Z', undefined],
    ['2030-02-01T25:00:00Z', undefined],
    ['never', undefined],
  ];
  for (const [text, at] of read) t.equal(expiryAt(text, now), at, text);
});

test('a table has columns as wide as they must be, and no control characters', async (t) => {
  t.equal(
    textTable(
      ['NAME', 'MODULE'],
      [
        ['guest', ''],
        ['post-editor', 'a\u001b[31mb\nc\u202e'],
      ],
    ),
    'NAME         MODULE\nguest        -\npost-editor  a\\u001b[31mb\\u000ac\\u202e\n',
  );
  t.equal(textTable(['NAME'], []), 'NAME\n');
  t.equal(printable('größer 🔑'), 'größer 🔑');
});
