import { test } from 'tap';

import { measureQuickly } from './quick-measures.ts';

test('writes are measured', async (t) => {
  await measureQuickly(t, {
    create: [
      'POST create, 64 connections',
      'POST create, 64 connections: CPU',
      'POST create, 256 connections',
      'POST create, 256 connections: CPU',
      'POST create, unique value',
    ],
    'create-alone': ['POST create, one connection', 'POST create, one connection: CPU'],
    update: ['PUT update with a version, 64'],
    delete: ['DELETE at 200/s: sent to gone', 'DELETE at 200/s: CPU of one'],
  });
});
