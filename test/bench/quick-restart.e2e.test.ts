import { test } from 'tap';

import { measureQuickly } from './quick-measures.ts';

test('a restart, and the memory and the disk of an object, are measured', async (t) => {
  await measureQuickly(t, {
    'restart-1m': [
      '20,000 objects: restart, beyond an empty one',
      '20,000 objects: memory of one in the indexes',
      '20,000 objects: disk of one in the indexes',
    ],
  });
});
