import type { Selection } from '../../src/resource/query/list-query.ts';
import { type } from './world.ts';

/** What every node must find as one that is rebuilt does. */
export const selections: readonly Selection[] = [
  { labels: [], fields: [] },
  { labels: [{ key: 'app', operator: 'in', values: ['x'] }], fields: [] },
  {
    labels: [],
    fields: [{ index: type.indexes.findIndex(({ name }) => name === 'spec.size'), operator: '>=', key: 5 }],
  },
  { labels: [], fields: [{ index: type.indexes.findIndex(({ name }) => name === 'spec.serial'), operator: 'exists' }] },
];
