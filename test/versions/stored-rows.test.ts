import { test } from 'tap';

import { storedIn } from '../../src/command/upgrade/stored-rows.ts';
import { storedViolations } from '../../src/command/upgrade/stored-violations.ts';
import { compiled, gadget } from './gadgets.ts';

const type = compiled(gadget);
const metadata = { name: 'lamp', uid: 'u', version: 0, resourceVersion: '1', generation: 1, creationTimestamp: '' };

function rowsWith(apiVersion: string, spec: object): Parameters<typeof storedIn>[0] {
  const object = { apiVersion, kind: gadget.kind, metadata, spec };
  return { get: () => ({ bytes: Buffer.from(JSON.stringify(object)) }) };
}

test('a stored object of an earlier version is judged in the preferred version, with defaults', (t) => {
  const rows = rowsWith('gadgets.example/v1alpha1', { title: 'Lamp', width: 2 });
  const stored = storedIn(rows, type, 'lamp');
  t.match(stored, {
    ok: true,
    object: { apiVersion: type.apiVersion, spec: { name: 'Lamp', size: { width: 2 }, color: 'red' } },
  });
  t.same(stored?.ok === true ? storedViolations(type, stored.object, '2026-01-01T00:00:00.000Z') : 'not converted', []);
  t.end();
});

test('a stored object of an unknown version is not converted', (t) => {
  const rows = rowsWith('gadgets.example/v9', { title: 'Lamp' });
  t.match(storedIn(rows, type, 'lamp'), { ok: false, problem: /declares no version "gadgets\.example\/v9"/u });
  t.end();
});
