/** The state at any position, and what changed between two, against a model that recorded every answer. */
import fc from 'fast-check';
import { test } from 'tap';

import { applyJsonPatch } from '../../src/resource/object/patch.ts';
import type { JsonValue } from '../../src/resource/object/object.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { diffsPath, objectsIn, positionIn, replay, widget, widgets, widgetsPath, type Line } from './replay-stage.ts';

const names = ['a', 'b', 'c', 'd'];
type Step = { readonly name: string; readonly size: number; readonly deletes: boolean };
const steps = fc.array(
  fc.record({
    name: fc.constantFrom(...names),
    size: fc.integer({ min: 0, max: 9 }),
    deletes: fc.boolean(),
  }),
  { minLength: 4, maxLength: 12 },
);

type State = ReadonlyMap<string, JsonValue>;
type Recorded = { readonly position: bigint; readonly state: State };

/** Creates, updates or deletes; returns the state after it. */
async function take(server: TestServer, { name, size, deletes }: Step, before: State): Promise<Recorded> {
  const after = new Map(before);
  const path = `${widgetsPath}/${name}`;
  const isThere = before.has(name);
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = !isThere
    ? await server.call(widgetsPath, { method: 'POST', body: widget(name, { size }) })
    : deletes
      ? await server.call(path, { method: 'DELETE' })
      : await server.call(path, { method: 'PATCH', headers, body: { spec: { size, title: `size ${String(size)}` } } });
  const object = (await answer.json()) as JsonValue;
  if (!answer.ok) throw new Error(JSON.stringify(object));
  if (isThere && deletes) after.delete(name);
  else after.set(name, object);
  return { position: BigInt(positionIn(object)), state: after };
}

function sorted(state: State): readonly JsonValue[] {
  return [...state].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, object]) => object);
}

function uidOf(object: JsonValue): unknown {
  return (object as { readonly metadata: { readonly uid: string } }).metadata.uid;
}

/** The state after the changes. */
function applied(before: State, changes: readonly Line[]): State {
  const after = new Map(before);
  for (const { change, name, object, patch } of changes) {
    const found = after.get(String(name));
    if (change === 'deleted') {
      if (JSON.stringify(found) !== JSON.stringify(object)) throw new Error('the deleted object is not the last one');
      after.delete(String(name));
    } else if (change === 'created') after.set(String(name), object as JsonValue);
    else {
      const patched = applyJsonPatch(found ?? null, patch as readonly JsonValue[]);
      if (!patched.ok) throw new Error(patched.detail);
      after.set(String(name), patched.document);
    }
  }
  return after;
}

test('a replay shows the state at any position, and a diff what changed between two', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const draws = fc.tuple(steps, fc.array(fc.nat(), { minLength: 2, maxLength: 2 }));
  let [state, last]: [State, bigint] = [new Map(), 0n];
  await fc.assert(
    fc.asyncProperty(draws, async ([drawn, places]) => {
      const history: Recorded[] = [];
      for (const step of drawn) {
        const { position, state: next } = await take(server, step, state);
        // A patch that changes nothing returns the position of the last change of its object.
        if (position > last) last = position;
        state = next;
        history.push({ position: last, state });
      }
      const first = history[0]?.position ?? 1n;
      const at = places
        .map((place) => first + (BigInt(place) % (last - first + 1n)))
        .sort((left, right) => Number(left - right));
      const states = at.map((place) => history.findLast(({ position }) => position <= place)?.state ?? new Map());
      for (const [index, position] of at.entries()) {
        const shown = await replay(server, { until: String(position), print: true, type: widgets });
        t.strictSame(objectsIn(shown), sorted(states[index] ?? new Map()), `the state at ${String(position)}`);
        t.match(shown.last, { kind: 'Result' });
      }
      const [from, to] = at.map(String);
      const { lines } = await replay(server, { from, to, type: widgets }, diffsPath);
      const changes = lines.filter(({ kind }) => kind === 'Change');
      const [before = new Map<string, JsonValue>(), after = new Map<string, JsonValue>()] = states;
      t.strictSame(sorted(applied(before, changes)), sorted(after), `from ${String(from)} to ${String(to)}`);
      const untouched = changes.filter(
        ({ change, name }) =>
          change === 'changed' && JSON.stringify(before.get(String(name))) === JSON.stringify(after.get(String(name))),
      );
      t.strictSame(untouched, [], 'nothing that is equal is a change');
      for (const { change, name } of changes)
        if (change === 'changed') t.equal(uidOf(before.get(String(name)) ?? {}), uidOf(after.get(String(name)) ?? {}));
    }),
    { numRuns: Number(process.env['REPLAY_RUNS'] ?? 3) },
  );
});
