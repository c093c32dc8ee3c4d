import fc from 'fast-check';
import { test } from 'tap';

import { decideInVersion } from '../../src/command/versions/preferred-command.ts';
import { initialState, type State } from '../../src/command/evolve.ts';
import type { Facts } from '../../src/command/facts.ts';
import { logPosition, streamRevision } from '../../src/log/log.ts';
import type { JsonObject, ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { convert } from '../../src/resource/type/versions/convert.ts';
import { currentObject, versionedObject } from '../../src/resource/type/versions/shown-version.ts';
import { facts } from '../support/given.ts';
import { compiled, gadget, inVersion } from './gadgets.ts';

const type = compiled(gadget);
const versions = ['v1alpha1', 'v1beta1', 'v1'] as const;
const short = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom('a', 'b', 'x', 'y', 'z') });
const sides = { width: fc.nat(9), height: fc.nat(9) };
const specs = {
  v1alpha1: fc.record({ title: short, ...sides }, { requiredKeys: ['title'] }),
  v1beta1: fc.record({ name: short, ...sides, color: short }, { requiredKeys: ['name', 'color'] }),
  v1: fc.record(
    { name: short, size: fc.record(sides, { requiredKeys: ['width'] }), color: short },
    { requiredKeys: ['name', 'color'] },
  ),
};
const drawn = fc.constantFrom(...versions).chain((version) => specs[version].map((spec) => ({ version, spec })));

function body(of: ResourceType, spec: object): JsonObject {
  return { apiVersion: of.apiVersion, kind: of.kind, metadata: { name: 'g' }, spec } as JsonObject;
}

const given: Facts = { ...facts, type };

/** The state after a write, and the object that was stored. */
function written(state: State, command: Parameters<typeof decideInVersion>[1], version: string) {
  const asked = inVersion(type, version);
  const decision = decideInVersion(state, command, given, asked === type ? undefined : asked);
  if (!decision.ok) throw new Error(JSON.stringify(decision.rejection));
  const revision = streamRevision(decision.object.metadata.version);
  const next: State = { kind: 'live', revision, position: logPosition(9n), object: decision.object };
  return { next, decision, object: decision.object };
}

function membersIn(object: ResourceObject, version: string): object {
  const shown = versionedObject(object, inVersion(type, version));
  return { spec: shown['spec'] as object };
}

test('what is created in a version is stored in the preferred one and read back the same in each', async (t) => {
  fc.assert(
    fc.property(drawn, ({ version, spec }) => {
      const { object } = written(
        initialState,
        { type: 'create', object: body(inVersion(type, version), spec) },
        version,
      );
      t.equal(object.apiVersion, type.apiVersion);
      t.equal(currentObject(object, type), object, 'it is current');
      t.same(membersIn(object, version), { spec });
      for (const other of versions) {
        const there = convert(object, inVersion(type, other));
        const back = there.ok ? convert(there.object, type) : there;
        t.same(back.ok && back.object, object, `by way of ${other}`);
      }
    }),
  );
});

test('a write of what was read changes nothing, whatever the version', async (t) => {
  fc.assert(
    fc.property(drawn, fc.constantFrom(...versions), fc.boolean(), ({ version, spec }, other, isPatch) => {
      const first = written(initialState, { type: 'create', object: body(inVersion(type, version), spec) }, version);
      const shown = versionedObject(first.object, inVersion(type, other)) as unknown as JsonObject;
      const aim = { name: 'g', part: 'main', preconditions: {} } as const;
      const again = isPatch
        ? written(first.next, { type: 'patch', patch: { kind: 'merge', document: { spec: {} } }, ...aim }, other)
        : written(first.next, { type: 'replace', object: shown, ...aim }, other);
      t.equal(again.decision.event, undefined);
    }),
  );
});
