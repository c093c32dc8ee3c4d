import fc from 'fast-check';
import { test } from 'tap';

import {
  isReservedGroup,
  isReservedLabel,
  isWithinDomain,
  keyProblem,
  labelValueProblem,
  nameProblem,
  subdomainProblem,
} from '../../src/resource/type/names.ts';

const runs = Number(process.env['PBT_RUNS'] ?? 1_000);

test('a name is one label of lowercase letters, digits and hyphens', async (t) => {
  for (const name of ['a', '0', 'a-1', 'a--b', 'x'.repeat(253)]) t.equal(nameProblem(name), undefined, name);
  for (const name of ['', '-', 'a-', '-a', 'A', 'a.b', 'a_b', 'a b', 'a/b', 'é', 'a\n', '\na', 'x'.repeat(254)])
    t.type(nameProblem(name), 'string', JSON.stringify(name));
});

test('a group or prefix is a DNS subdomain', async (t) => {
  for (const group of ['a', 'a.b', '1.2-3.x', `${'x'.repeat(249)}.a.b`])
    t.equal(subdomainProblem(group), undefined, group);
  for (const group of ['', '.', 'a.', '.a', 'a..b', 'a.-b', 'a-.b', 'A.b', 'a_b', 'a/b', 'x'.repeat(254)])
    t.type(subdomainProblem(group), 'string', JSON.stringify(group));
});

test('a key is a name of at most 63 characters, with or without a prefix', async (t) => {
  for (const key of ['a', 'A_b.c-D', 'a.b/c', `${'x'.repeat(253)}/${'y'.repeat(63)}`])
    t.equal(keyProblem(key), undefined, key);
  for (const key of [
    '',
    '/',
    'a/',
    '/a',
    'a/b/c',
    'A/b',
    'a b',
    '.a',
    'a.',
    '_a',
    'a-',
    'é',
    'x'.repeat(64),
    `${'x'.repeat(254)}/y`,
  ])
    t.type(keyProblem(key), 'string', JSON.stringify(key));
});

test("a label's value is any text of 253 characters without control characters", async (t) => {
  for (const value of ['', 'a b, c=d/é', '\u00a0', 'x'.repeat(253)]) t.equal(labelValueProblem(value), undefined);
  for (const value of ['x'.repeat(254), 'a\tb', '\0', '\u007f', '\u0085', '\n'])
    t.type(labelValueProblem(value), 'string', JSON.stringify(value));
});

test('hostile texts make no rule slow or throw', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      for (const rule of [nameProblem, subdomainProblem, keyProblem, labelValueProblem]) rule(text);
    }),
    { numRuns: runs },
  );
  const began = process.cpuUsage();
  for (const text of [
    'a'.repeat(100_000),
    `${'a-'.repeat(126)}-`,
    `${'a.'.repeat(126)}!`,
    `${'-'.repeat(252)}a`,
    `a${'-'.repeat(252)}`,
  ])
    for (const rule of [nameProblem, subdomainProblem, keyProblem, labelValueProblem]) rule(text);
  t.ok(process.cpuUsage(began).user < 500_000);
});

test("the platform's domain and its subdomains are reserved, other names with the same ending are not", async (t) => {
  for (const group of ['svc.run', 'a.svc.run', 'a.b.svc.run'])
    t.ok(isWithinDomain(group, 'svc.run') && isReservedGroup(group, 'svc.run'), group);
  for (const group of ['notsvc.run', 'svc.run.example.com', 'run', 'svc'])
    t.notOk(isWithinDomain(group, 'svc.run') || isReservedGroup(group, 'svc.run'), group);
  t.ok(isReservedGroup('', 'svc.run'), 'the core group');
});

test('reserved label keys are those without a prefix and the undocumented ones of the platform', async (t) => {
  for (const key of [
    'team',
    'svc.run/x',
    'a.svc.run/x',
    'svc.run/role-templates',
    'other.svc.run/aggregate-to-x',
    'rbac.authorization.svc.run/x',
  ])
    t.ok(isReservedLabel(key, 'svc.run'), key);
  for (const key of [
    'example.com/x',
    'notsvc.run/x',
    'svc.run/role-template',
    'svc.run/hidden',
    'rbac.authorization.svc.run/aggregate-to-role-x',
  ])
    t.notOk(isReservedLabel(key, 'svc.run'), key);
});
