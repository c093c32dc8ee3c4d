import { test } from 'tap';

import { measureQuickly } from './quick-measures.ts';

test('memory while objects are written and after a restart is measured', async (t) => {
  await measureQuickly(t, {
    'memory-100k': [
      '10,000 objects: RssAnon while they are written',
      '10,000 objects: restart, beyond an empty one',
      '10,000 objects: RssAnon after a restart',
    ],
  });
});
