import type { Parameter } from './operation.ts';

/** The query parameters that generated APIs honour (decisions 2 to 5). */
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
 * The parameters of a selection. The two selectors are first: deleting a collection takes these two parameters only.
 */
export const selectionParameters: readonly Parameter[] = [
  query('labelSelector', text, 'Requirements on labels, for example tier=web,env in (dev,test),!old. May be repeated.'),
  query('fieldSelector', text, 'Requirements on indexed fields, for example spec.size>=3. May be repeated.'),
  query('sort', text, 'An indexed field, with ,asc or ,desc. May be repeated.'),
  query('page', whole, 'The page, from 1.'),
  query('size', whole, 'The objects of a page; 0 for all.'),
];

export const continueParameters: readonly Parameter[] = [
  query('limit', whole, 'The objects of a page; the answer has the token of the next one in metadata.continue.'),
  query('continue', text, 'The token of the previous page.'),
];

export const historyParameters: readonly Parameter[] = [
  query(
    'sort',
    { type: 'string', enum: ['position', 'position,asc', 'position,desc'] },
    'The order of the events: the oldest first, or with position,desc the newest.',
  ),
  query('uid', text, 'Only the object with this uid, of all that had the name.'),
  query('include', { type: 'string', enum: ['object'] }, 'object: each event has the object as it was after it.'),
];

const moment = 'a position of the log, or a time (RFC 3339).';

/** The parameter `at` for the GET of an object and for lists. */
export const pastParameters: readonly Parameter[] = [query('at', text, `Shows the past: ${moment}`)];

export const restoreParameters: readonly Parameter[] = [
  { ...query('at', text, `The state to restore: ${moment}`), required: true },
];

export const freshnessParameters: readonly Parameter[] = [
  query('resourceVersion', text, 'The position of the log that the answer must include; a watch continues from it.'),
  query(
    'resourceVersionMatch',
    { type: 'string', enum: ['NotOlderThan', 'Exact'] },
    'How resourceVersion is compared.',
  ),
];

export const watchParameters: readonly Parameter[] = [
  query('watch', flag, 'Changes as JSON lines, server-sent events or WebSocket frames, instead of the list.'),
  query('allowWatchBookmarks', flag, 'The watch sends its position from time to time.'),
  query('sendInitialEvents', flag, 'The watch begins with the present objects, and marks their end by a bookmark.'),
  query('timeoutSeconds', whole, 'The watch ends after this time.'),
];

const dryRun = query(
  'dryRun',
  { type: 'string', enum: ['All'] },
  'All: everything is checked, and nothing is written.',
);

export const writeParameters: readonly Parameter[] = [
  dryRun,
  query('fieldManager', text, 'Accepted from Kubernetes’ clients; without effect.'),
  query(
    'fieldValidation',
    { type: 'string', enum: ['Ignore', 'Warn', 'Strict'] },
    'Unknown members are dropped, dropped with a warning, or refused. By default they are refused.',
  ),
];

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  query(
    'propagationPolicy',
    { type: 'string', enum: ['Background', 'Foreground', 'Orphan'] },
    'The deletion of objects that the object owns.',
  ),
];
