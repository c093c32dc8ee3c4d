import { typeKey, type IndexEntry, type IndexKey } from '../../resource/type/index-entry.ts';
import { stringKey } from '../../resource/type/index-key.ts';
import type { IndexDefinition, PrinterColumn, ResourceType } from '../../resource/type/resource-type.ts';
import { eventFields, type EventValues } from './event-fields.ts';

const version = 'v1alpha1';

/**
 * Returns the resource type of the log's events, in the group `audit.<domain>`. No objects of this type are stored. The
 * fields of events act as indexes, so that selectors and watches work for events.
 */
export function eventType(domain: string): ResourceType {
  const group = `audit.${domain}`;
  return {
    key: typeKey(`events.${group}`),
    group,
    version,
    kind: 'Event',
    singular: 'event',
    plural: 'events',
    apiVersion: `${group}/${version}`,
    path: `/apis/${group}/${version}/events`,
    indexes: eventFields.map(fieldIndex),
    statusSubresource: false,
    printerColumns,
    shortNames: [],
    categories: [],
    scale: undefined,
    references: [],
    schema: {},
    check: () => ({ found: [], isComplete: true }),
    checkStatus: () => ({ found: [], isComplete: true }),
    prune: (object) => ({ object, unknown: [] }),
    fillDefaults: (object) => object,
    plugin: 'platform',
    fingerprint: '',
    declaration: undefined,
    source: 'platform',
  };
}

/** The fields that a selector of a list can name. */
export const selectableFields: readonly IndexDefinition[] = [...eventFields, 'time', 'position'].map(fieldIndex);

/** The values of an event's fields as index keys, computed on demand. */
export class FieldKeys implements IndexEntry {
  readonly created = 0;
  readonly labels = {};
  readonly #values: EventValues;
  #keys: readonly (readonly IndexKey[])[] | undefined;

  constructor(values: EventValues) {
    this.#values = values;
  }

  get name(): string {
    return this.#values.event.position.toString();
  }

  get keys(): readonly (readonly IndexKey[])[] {
    return (this.#keys ??= eventFields.map((field) => this.#values.allOf(field).map(stringKey)));
  }
}

function fieldIndex(name: string): IndexDefinition {
  return {
    name,
    type: 'string',
    order: 'ASC',
    unique: false,
    multi: false,
    fingerprint: name,
    keysOf: () => [],
    keyOf: stringKey,
  };
}

const printerColumns: readonly PrinterColumn[] = [
  { name: 'Time', type: 'string', pointer: '/time' },
  { name: 'Event', type: 'string', pointer: '/event' },
  { name: 'Type', type: 'string', pointer: '/type' },
  { name: 'Object', type: 'string', pointer: '/name' },
  { name: 'Actor', type: 'string', pointer: '/actor' },
  { name: 'On Behalf Of', type: 'string', pointer: '/onBehalfOf', priority: 1 },
  { name: 'Verb', type: 'string', pointer: '/verb' },
  { name: 'Request', type: 'string', pointer: '/requestId', priority: 1 },
  { name: 'Address', type: 'string', pointer: '/address', priority: 1 },
];
