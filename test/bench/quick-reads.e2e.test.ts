import { test } from 'tap';

import { measureQuickly } from './quick-measures.ts';

test('reads are measured', async (t) => {
  await measureQuickly(t, {
    generator: ['load generator on bare node:http'],
    'get-one': ['GET one object, 64 connections'],
    'list-500': ['LIST 500 objects'],
    'list-100k': ['LIST 10,000 objects: time', 'LIST 10,000 objects: memory growth'],
  });
});

test('watches are measured', async (t) => {
  await measureQuickly(t, {
    'watch-latency': [
      'watch: write sent to last of 1,000',
      'watch: response to last of 1,000',
      'watch: write sent to last of 100',
      'watch: response to last of 100',
    ],
    'watch-selectors': [
      '1,000 watchers with distinct selectors: one change',
      '1,000 watchers with distinct selectors: a batch of 64',
    ],
  });
});
