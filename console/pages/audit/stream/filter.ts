import type { LocationQuery, LocationQueryRaw } from 'vue-router';

import { condition } from '../events/audit-event.ts';

/** The conditions that select events, as stored in the address of the page. */
export type EventFilter = Readonly<Partial<Record<FilterField, string>>>;

/** The fields that are compared for equality. */
export const equalFields = [
  'user',
  'type',
  'name',
  'verb',
  'address',
  'requestId',
  'correlationId',
  'uid',
  'actor',
  'token',
  'plugin',
  'event',
] as const;

/** Bounds, both inclusive: times in RFC 3339, and positions of the log. */
export const boundFields = ['since', 'until', 'first', 'last'] as const;

export type FilterField = (typeof equalFields)[number] | (typeof boundFields)[number];

const bounds: Readonly<Record<(typeof boundFields)[number], string>> = {
  since: 'time>=',
  until: 'time<=',
  first: 'position>=',
  last: 'position<=',
};

/** Reads a filter from the address of the page. Ignores other parameters and repeated parameters. */
export function filterIn(query: LocationQuery): EventFilter {
  const values = [...equalFields, ...boundFields].map((field) => [field, query[field]] as const);
  return Object.fromEntries(values.filter(([, value]) => typeof value === 'string' && value !== ''));
}

export function queryOf(filter: EventFilter): LocationQueryRaw {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
}

/** Returns the field selector of a list. */
export function selectorOf(filter: EventFilter): string | undefined {
  const limits = boundFields.flatMap((field) => {
    const value = filter[field];
    return value === undefined ? [] : [`${bounds[field]}${value}`];
  });
  return joined([...equalConditions(filter), ...limits]);
}

/** Returns the field selector of a watch. The selector has no bounds, because a watch sends only new events. */
export function watchSelectorOf(filter: EventFilter): string | undefined {
  return joined(equalConditions(filter));
}

/** Returns whether new events can match the filter. */
export function isOpenEnded({ until, last }: EventFilter): boolean {
  return until === undefined && last === undefined;
}

function equalConditions(filter: EventFilter): readonly string[] {
  return equalFields.flatMap((field) => {
    const value = filter[field];
    return value === undefined ? [] : [condition(field, '=', value)];
  });
}

function joined(conditions: readonly string[]): string | undefined {
  return conditions.length === 0 ? undefined : conditions.join(',');
}
