import type { LocationQuery, LocationQueryRaw } from 'vue-router';

import { condition } from '../events/audit-event.ts';

/** The conditions that select events: the values that a filter has in the address of the page. */
export type EventFilter = Readonly<Partial<Record<FilterField, string>>>;

/** Fields of which an event must have exactly the value. */
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

/** Reads a filter from the address of the page. Other parameters, and repeated ones, are no conditions. */
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

/** Returns the field selector of a watch, which has no bounds: it shows only events from now on. */
export function watchSelectorOf(filter: EventFilter): string | undefined {
  return joined(equalConditions(filter));
}

/** Whether events from now on can match the filter. */
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
