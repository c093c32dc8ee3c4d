import type { Selection } from '../../src/resource/query/list-query.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';

/** What every node must find as one that is rebuilt does. */
export function selectionsOf({ indexes }: ResourceType): readonly Selection[] {
  const at = (name: string): number => indexes.findIndex((index) => index.name === name);
  const plain: readonly Selection[] = [
    { labels: [], fields: [] },
    { labels: [{ key: 'app', operator: 'in', values: ['x'] }], fields: [] },
    { labels: [], fields: [{ index: at('spec.serial'), operator: 'exists' }] },
  ];
  const [size, color] = [at('spec.size'), at('spec.color')];
  return [
    ...plain,
    ...(size === -1 ? [] : [{ labels: [], fields: [{ index: size, operator: '>=', key: 5 } as const] }]),
    ...(color === -1 ? [] : [{ labels: [], fields: [{ index: color, operator: 'exists' } as const] }]),
  ];
}
