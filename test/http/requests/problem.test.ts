import { test } from 'tap';

import { problem, problems, type ProblemReason } from '../../../src/http/problem.ts';
import { problemAnswer } from '../../../src/http/problem-body.ts';

const context = {
  domain: 'example.org',
  path: '/apis/g/v1/things/a',
  accept: undefined,
  requestId: 'r1',
  time: '2026-01-01T00:00:00.000Z',
  resource: { group: 'g', resource: 'things', name: 'a' },
};

/** Decision 8, row by row. */
const expected: Record<ProblemReason, readonly [number, string, string]> = {
  'bad-request': [400, 'BadRequest', 'bad-request'],
  unauthorized: [401, 'Unauthorized', 'unauthorized'],
  forbidden: [403, 'Forbidden', 'forbidden'],
  'not-found': [404, 'NotFound', 'not-found'],
  'method-not-allowed': [405, 'MethodNotAllowed', 'method-not-allowed'],
  'request-timeout': [408, 'RequestTimeout', 'request-timeout'],
  'already-exists': [409, 'AlreadyExists', 'already-exists'],
  'stale-version': [409, 'Conflict', 'conflict'],
  'unique-value-taken': [409, 'UniqueValueTaken', 'unique-value-taken'],
  referenced: [409, 'ObjectReferenced', 'object-referenced'],
  expired: [410, 'Expired', 'expired'],
  'precondition-failed': [412, 'PreconditionFailed', 'precondition-failed'],
  'body-too-large': [413, 'RequestEntityTooLarge', 'request-entity-too-large'],
  'unsupported-media-type': [415, 'UnsupportedMediaType', 'unsupported-media-type'],
  'expectation-failed': [417, 'ExpectationFailed', 'expectation-failed'],
  invalid: [422, 'Invalid', 'invalid'],
  'too-many-requests': [429, 'TooManyRequests', 'too-many-requests'],
  'headers-too-large': [431, 'RequestHeaderFieldsTooLarge', 'request-header-fields-too-large'],
  'internal-error': [500, 'InternalError', 'internal-error'],
  unavailable: [503, 'ServiceUnavailable', 'service-unavailable'],
  timeout: [504, 'Timeout', 'timeout'],
  'insufficient-storage': [507, 'InsufficientStorage', 'insufficient-storage'],
};

test('each reason has its status, word and type, in both forms', async (t) => {
  for (const reason of Object.keys(problems) as ProblemReason[]) {
    const [status, word, slug] = expected[reason];
    const kubernetes = problemAnswer(problem(reason, 'why'), context);
    t.equal(kubernetes.status, status, reason);
    t.match(
      JSON.parse(kubernetes.bytes.toString()),
      {
        kind: 'Status',
        status: 'Failure',
        code: status,
        reason: word,
        message: 'why',
        detail: 'why',
        type: `https://example.org/problems/${slug}`,
      },
      reason,
    );
    const plain = problemAnswer(problem(reason, 'why'), { ...context, accept: 'application/problem+json' });
    const body: unknown = JSON.parse(plain.bytes.toString());
    t.match(
      body,
      { status, reason: word, type: `https://example.org/problems/${slug}`, requestId: 'r1', timestamp: context.time },
      reason,
    );
    t.notOk(Object.hasOwn(body as object, 'kind'), reason);
  }
});

test('a retry delay is in a header and in the details, in whole seconds', async (t) => {
  const { headers, bytes } = problemAnswer(problem('unavailable', 'why', { retryAfterSeconds: 0.2 }), context);
  t.strictSame(headers, ['Content-Type', 'application/json', 'Retry-After', '1']);
  t.match(JSON.parse(bytes.toString()), { details: { retryAfterSeconds: 1 } });
});

test('the causes of an invalid object have its kind, and those of a conflict its resource', async (t) => {
  const violations = [{ pointer: '/spec/a~1b/0', detail: 'is required' }];
  const about = { kind: 'Thing', name: 'body-name' };
  const invalid: unknown = JSON.parse(
    problemAnswer(problem('invalid', 'why', { violations, about }), context).bytes.toString(),
  );
  t.match(invalid, {
    details: { name: 'body-name', kind: 'Thing', causes: [{ reason: 'FieldValueRequired', field: 'spec.a/b.0' }] },
    errors: violations,
  });
  const body: unknown = JSON.parse(
    problemAnswer(problem('unique-value-taken', 'why', { violations, about }), context).bytes.toString(),
  );
  t.match(body, { details: { kind: 'things', causes: [{ reason: 'FieldValueDuplicate' }] } });
});
