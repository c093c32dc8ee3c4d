import { test } from 'tap';

import { measureQuickly } from './quick-measures.ts';

test('writes to the test server of EventStoreDB are measured, without floors', async (t) => {
  const results = await measureQuickly(t, {
    'eventstore-create': [
      'EventStoreDB: POST create, 64 conn.',
      'EventStoreDB: POST create: CPU',
      'EventStoreDB: POST create: node',
    ],
  });
  for (const { measure, floor } of results) t.equal(floor, undefined, measure);
});
