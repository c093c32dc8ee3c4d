import { test } from 'tap';

import { measureQuickly } from './quick-measures.ts';

test('memory, disk and restarts are measured', async (t) => {
  await measureQuickly(t, {
    'memory-100k': [
      '10,000 objects: RssAnon while they are written',
      '10,000 objects: restart, beyond an empty one',
      '10,000 objects: RssAnon after a restart',
    ],
    'restart-1m': [
      '20,000 objects: restart, beyond an empty one',
      '20,000 objects: memory of one in the indexes',
      '20,000 objects: disk of one in the indexes',
    ],
  });
});

test('the measure of ten million objects works with fewer', async (t) => {
  await measureQuickly(t, {
    'ten-million': [
      '20,000 objects: start to ready',
      '20,000 objects: page of 20',
      '20,000 objects: RssAnon',
      '20,000 objects: POST create',
      '20,000 objects: longest hold of the event loop',
    ],
  });
});
