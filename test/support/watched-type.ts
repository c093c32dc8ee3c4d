import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { defineIndexes } from '../../src/resource/type/index-definition.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';

/**
 * Returns a type without a schema for tests that need no validation: `widgets.example.com` with an index of the number
 * `spec.size`.
 */
export function widgetType(plural = 'widgets'): ResourceType {
  const defined = defineIndexes([{ name: 'spec.size', type: 'number' }]);
  if (!defined.ok) throw new Error(defined.problems.join());
  return {
    key: `${plural}.example.com` as TypeKey,
    group: 'example.com',
    version: 'v1',
    apiVersion: 'example.com/v1',
    path: `/apis/example.com/v1/${plural}`,
    kind: 'Widget',
    singular: 'widget',
    plural,
    indexes: defined.indexes,
    fingerprint: defined.fingerprint,
    statusSubresource: false,
    printerColumns: [],
    shortNames: [],
    categories: [],
    scale: undefined,
    references: [],
    schema: {},
    plugin: 'test',
    declaration: undefined,
    source: 'folder',
    check: () => ({ found: [], isComplete: true }),
    checkStatus: () => ({ found: [], isComplete: true }),
    prune: (object) => ({ object, unknown: [] }),
    fillDefaults: (object) => object,
  };
}

export type WidgetContent = {
  readonly labels?: Readonly<Record<string, string>>;
  readonly size?: number;
  readonly text?: string;
};

export function widget(name: string, version: number, { labels, size, text }: WidgetContent = {}): ResourceObject {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name,
      version,
      uid: `00000000-0000-4000-8000-${name.padStart(12, '0').slice(-12)}`,
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00.000Z',
      ...(labels === undefined ? {} : { labels }),
    },
    spec: { ...(size === undefined ? {} : { size }), ...(text === undefined ? {} : { text }) },
  };
}
