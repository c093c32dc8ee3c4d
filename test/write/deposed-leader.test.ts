/** What a server answers that leads no more: a write may be refused for it, and none is lost or made twice. */
import { test } from 'tap';

import type { EventLog, RecordedEvent, StreamName } from '../../src/log/log.ts';
import { body, create, merge, remove } from '../support/given.ts';
import { altered, shown, verdict, Writing } from '../support/writing.ts';

const named = (name: string, serial: string) => create(body({ metadata: { name }, spec: { title: name, serial } }));

/** Reads of a stream's end answer as they did when the server was deposed, until it learns of that. */
class Deposed {
  #ends: Map<StreamName, RecordedEvent> | undefined;

  readonly through = (log: EventLog): EventLog =>
    altered(log, {
      readLast: async (stream) => (this.#ends === undefined ? log.readLast(stream) : this.#ends.get(stream)),
    });

  depose(events: readonly RecordedEvent[]): void {
    this.#ends = new Map(events.map((event) => [event.stream, event]));
  }

  learns(): void {
    this.#ends = undefined;
  }
}

test("a deposed leader's stale state refuses a free value without an append; the next request gets it", async (t) => {
  const deposed = new Deposed();
  const writing = await Writing.open(t, { through: deposed.through });
  shown(await writing.write(named('a', 's1')));
  shown(await writing.write(named('b', 's2')));
  const before = await writing.recorded();
  t.ok(before.length > 0);
  shown(await writing.write(merge({ spec: { serial: 's3' } }, { name: 'a' })));
  shown(await writing.write(remove({}, 'b')));
  const standing = (await writing.recorded()).length;
  deposed.depose(before);
  for (const serial of ['s1', 's2']) {
    for (const dryRun of [true, false])
      t.equal(verdict(await writing.write(named('c', serial), { dryRun })), 'unique-value-taken', serial);
  }
  t.equal((await writing.recorded()).length, standing, 'nothing was appended');
  deposed.learns();
  shown(await writing.write(named('c', 's1')));
  shown(await writing.write(named('b', 's2')));
  t.equal(verdict(await writing.write(named('d', 's1'))), 'unique-value-taken');
  const created = (await writing.recorded()).filter(
    ({ stream, type }) => stream.endsWith('/c') && type === 'ObjectCreated',
  );
  t.equal(created.length, 1, 'and once');
});
