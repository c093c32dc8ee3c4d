import { test } from 'tap';

import type { Subject } from '../../../src/command/subject.ts';
import { Access, binding, everythingRules, platform, role, rule, user } from '../../support/access.ts';

/** A refusal shows the holder of a unique value to callers with the right to read it. */
test('a refusal names the holder of a unique value to callers that may get it', async (t) => {
  const access = await Access.open(t);
  await access.given(
    role('super-role', everythingRules),
    role('authenticated'),
    role('blind', [rule('create,update,patch,list,watch', 'widgets')]),
    role('reader', [rule('get', 'widgets')]),
    role('some', [rule('get', 'widgets', { resourceNames: ['hold*'] })]),
    role('others', [rule('get', 'widgets', { resourceNames: ['mine'] })]),
    ...['root', 'blind', 'reader', 'some', 'others'].map((name) => user(name)),
    ...['blind', 'reader', 'some', 'others'].map((name) => binding(name, name, name)),
    binding('root', 'super-role', 'root'),
    widget('holder'),
    widget('mine', 't'),
  );
  const token: Subject = {
    kind: 'user',
    name: 'root',
    credential: { kind: 'token', uid: 'u', userUid: 'r', name: 't', roles: ['blind'] },
  };
  const rows: readonly (readonly [Subject | string, boolean])[] = [
    ['root', true],
    ['reader', true],
    ['some', true],
    ['blind', false],
    ['others', false],
    [token, false],
    [{ kind: 'visitor' }, false],
    [{ kind: 'plugin', name: 'p' }, false],
    [platform, false],
  ];
  const ways = [true, false].flatMap((dryRun) => (['client', 'plugin'] as const).map((origin) => ({ dryRun, origin })));
  for (const [by, isNamed] of rows) {
    for (const way of ways) {
      const acting = access.as(by);
      const outcomes = [await acting.create(widget('new'), way), await acting.replace(widget('mine'), way)];
      t.match(
        outcomes,
        outcomes.map(() => ({
          ok: false,
          rejection: { reason: 'unique-value-taken', violations: [{ pointer: '/spec/serial' }] },
        })),
      );
      const text = JSON.stringify(outcomes);
      t.equal(text.includes('holder'), isNamed, `${JSON.stringify(by)} ${JSON.stringify(way)}: ${text}`);
      t.equal(text.includes('spec.serial must be unique among widgets: another object has this value'), !isNamed);
    }
  }
});

function widget(name: string, serial = 's'): ReturnType<typeof user> {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: { title: name, serial } };
}
