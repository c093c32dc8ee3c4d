/**
 * What a dry run of a large deletion holds the event loop for, over the real read models and the real door for writes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { listTurnMs } from '../../../src/limits/lists.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { create, widgetType } from '../../support/given.ts';
import { Writing } from '../../support/writing.ts';
import { startEdge } from '../edge-server.ts';

const widget = widgetType();
const count = 100;

test('a dry run of the deletion of a collection yields the event loop', async (t) => {
  const writing = await Writing.open(t, { type: widget });
  await writing.race(
    Array.from({ length: count }, (_, index) =>
      create({ metadata: { name: `w${String(index)}` }, spec: { title: 'T' } }),
    ),
  );
  const { models, clock } = writing;
  // Each look at the clock takes as long as one turn has for this.
  let now = 0;
  clock.monotonic = () => (now += listTurnMs);
  let decided = 0;
  const registry = new TypeRegistry();
  registry.register(widget);
  registry.serve(widget.key);
  const edge = await startEdge({
    clock,
    registry,
    reader: models,
    feed: models,
    execute: async (...command) => {
      decided += 1;
      return writing.execute(...command);
    },
  });
  t.teardown(() => edge.stop());
  let most = 0;
  const watched = (async () => {
    for (let before = decided; decided < count; before = decided) {
      await nextTurn();
      most = Math.max(most, decided - before);
    }
  })();
  const answer = await edge.call(`${widget.path}?dryRun=All`, { method: 'DELETE' });
  t.equal(answer.status, 200);
  t.equal(((await answer.json()) as { items: unknown[] }).items.length, count);
  await watched;
  t.ok(most <= 2, `${String(most)} in one turn`);
});
