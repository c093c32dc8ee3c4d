import type { Parameter } from './operation.ts';

/** The parameters of generated APIs (decisions 2 to 5). */
const text = { type: 'string' };
const whole = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };

export function query(name: string, schema: Parameter['schema'], description: string): Parameter {
  return { name, in: 'query', schema, description };
}

export const nameParameter: Parameter = {
  name: 'name',
  in: 'path',
  required: true,
  schema: text,
  description: 'The name of the object.',
};

/**
 * The parameters that select, sort and page the objects of a list. The selectors must be first, because the deletion of
 * a collection uses only the first two parameters.
 */
export const selectionParameters: readonly Parameter[] = [
  query('labelSelector', text, 'Requirements on labels, for example tier=web,env in (dev,test),!old. May be repeated.'),
  query('fieldSelector', text, 'Requirements on indexed fields, for example spec.size>=3. May be repeated.'),
  query('sort', text, 'An indexed field, with ,asc or ,desc. May be repeated.'),
  query('page', whole, 'The number of the page. The first page is 1.'),
  query('size', whole, 'The number of objects per page; 0 for all.'),
];

export const continueParameters: readonly Parameter[] = [
  query(
    'limit',
    whole,
    'The number of objects per page. metadata.continue of the response is the token of the next page.',
  ),
  query('continue', text, 'The token of the previous page.'),
];

export const historyParameters: readonly Parameter[] = [
  query(
    'sort',
    { type: 'string', enum: ['position', 'position,asc', 'position,desc'] },
    'The order of the events: oldest first, or newest first with position,desc.',
  ),
  query('uid', text, 'Selects the object with this uid among all objects that had the name.'),
  query(
    'include',
    { type: 'string', enum: ['object'] },
    'With object, each event contains the object after the event.',
  ),
];

const moment = 'a position of the log, or a time (RFC 3339).';

/** The parameter `at` for the GET of an object and for lists. */
export const pastParameters: readonly Parameter[] = [query('at', text, `Returns the state at a moment: ${moment}`)];

export const restoreParameters: readonly Parameter[] = [
  { ...query('at', text, `The state to restore: ${moment}`), required: true },
];

export const freshnessParameters: readonly Parameter[] = [
  query(
    'resourceVersion',
    text,
    'The response must include all changes up to this position of the log. A watch continues from this position.',
  ),
  query(
    'resourceVersionMatch',
    { type: 'string', enum: ['NotOlderThan', 'Exact'] },
    'NotOlderThan: the state is at least as new as resourceVersion. Exact: the state is that of exactly this position.',
  ),
];

export const watchParameters: readonly Parameter[] = [
  query('watch', flag, 'Returns changes as JSON lines, server-sent events or WebSocket frames instead of the list.'),
  query('allowWatchBookmarks', flag, 'The watch sends its position periodically.'),
  query(
    'sendInitialEvents',
    flag,
    'The watch starts with the present objects, and a bookmark follows the last of them.',
  ),
  query('timeoutSeconds', whole, 'The time after which the watch ends, in seconds.'),
];

const dryRun = query(
  'dryRun',
  { type: 'string', enum: ['All'] },
  'All: the request is checked, and nothing is written.',
);

export const writeParameters: readonly Parameter[] = [
  dryRun,
  query('fieldManager', text, 'Ignored. Accepted for clients of Kubernetes.'),
  query(
    'fieldValidation',
    { type: 'string', enum: ['Ignore', 'Warn', 'Strict'] },
    'Unknown members are dropped (Ignore), dropped with a warning (Warn), or refused (Strict, the default).',
  ),
];

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  query(
    'propagationPolicy',
    { type: 'string', enum: ['Background', 'Foreground', 'Orphan'] },
    'How objects that the object owns are deleted.',
  ),
];
