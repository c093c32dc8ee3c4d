/** Objects that are marked all at once are gone in one pass. COLLECTED=100000 takes the number from the environment. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { Collector } from '../../../reconcilers/platform/collector.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import { Accounts } from '../../support/server/accounts.ts';
import { marksAlone } from '../../support/marks-alone.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { Lead } from '../controller-stage.ts';

const count = Number(process.env['COLLECTED'] ?? 5_000);

test(`${count.toString()} objects marked without a leader are removed in one pass while reads continue`, async (t) => {
  const accounts = await Accounts.open(t, { log: marksAlone(new MemoryLog()) });
  const { models, clock, sessions, execute } = accounts;
  for (let first = 0; first < count; first += 256) {
    const names = Array.from({ length: Math.min(256, count - first) }, (_, index) => `s${(first + index).toString()}`);
    await Promise.all(names.map(async (name) => accounts.create(sessions, name, { spec: { user: 'nobody' } })));
    await Promise.all(names.map(async (name) => accounts.remove(sessions, name)));
  }
  const lead = new Lead(false);
  const steps = new Map<string, number>();
  const errors: unknown[] = [];
  const collector = new Collector({
    changes: models,
    reader: models,
    bound: new ReconcileSlots(clock),
    leadership: lead,
    clock,
    uuid: () => 'r',
    onError: (error) => {
      errors.push(error);
    },
    types: (key: TypeKey) => (key === sessions.key ? sessions : undefined),
    serving: () => [sessions],
    execute: async (type, command, context) => {
      if (command.type === 'collect') steps.set(command.name, (steps.get(command.name) ?? 0) + 1);
      return execute(type, command, context);
    },
  });
  t.teardown(() => collector.stop());
  collector.open();
  await nextTurn();
  t.equal(accounts.names(sessions).length, count, 'nobody leads');
  lead.give(true);
  let reads = 0;
  const over = new AbortController();
  void collector.idle().then(() => {
    over.abort();
  });
  for (; !over.signal.aborted; reads += 1) {
    accounts.names(sessions);
    await nextTurn();
  }
  t.equal(accounts.names(sessions).length, 0);
  t.equal(steps.size, count);
  t.strictSame(
    [...steps.values()].filter((times) => times !== 1),
    [],
    'one step each',
  );
  t.ok(reads > count / 512, `${reads.toString()} reads in between`);
  t.strictSame(errors, []);
});
