import type { Schema } from '../resource/schema/schema-check.ts';
import { text, time, whole } from './described.ts';

/** The schemas of the members that the entries of an object's history and the audit events have in common. */

export const placeSchemas = {
  position: text('The position of the event in the log.'),
  resourceVersion: text('The position, in the format of metadata.resourceVersion.'),
} as const satisfies Readonly<Record<string, Schema>>;

export const versionSchema = whole('metadata.version of the object after the event.');

/** The schemas of the members that `causeMembers` in `src/audit` returns: the time of the event and its cause. */
export const causeSchemas = {
  time: time('The time of the event.'),
  actor: text('A user, plugin:<name> for a plugin with its own rights, or system:<part> for the platform.'),
  onBehalfOf: text('The user of the request for which a plugin wrote with its own rights.'),
  token: text('The name of the personal access token of the request.'),
  verb: text('The verb of the request.'),
  address: text('The address of the client.'),
  userAgent: text('The User-Agent header of the request.'),
  requestId: text('The id of the request.'),
  traceParent: text('The W3C trace context of the request.'),
  plugin: text('The plugin that made the write.'),
  restoredFrom: text('Of a restore: the position in the log of the restored state.'),
  cause: text('The id of the event that a reconciler reacted to.'),
} as const satisfies Readonly<Record<string, Schema>>;

export const changeSchema = (description: string): Schema => ({
  type: 'array',
  items: { type: 'object' },
  description,
});

export const objectSchema: Schema = {
  type: 'object',
  description: 'The object after the event, with include=object.',
};
