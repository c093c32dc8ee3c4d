import { test } from 'tap';

import { measureQuickly } from './quick-measures.ts';

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
