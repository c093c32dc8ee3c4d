import type { Schema } from '../resource/schema/schema-check.ts';
import { object, text, time, whole } from './described.ts';
import { referenceTo } from './names.ts';
import type { Parameter } from './operation.ts';
import { continueParameters, freshnessParameters, query, watchParameters } from './parameters.ts';
import type { Entries } from './platform-entries.ts';

/** The schema that every document has for the metadata of lists. */
const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';
const auditEvent = 'AuditEvent';
const auditEventList = 'AuditEventList';

/** The members of an event's cause, which entries of a history have as well. */
const eventSchema = object(
  'An event of the log.',
  {
    apiVersion: text('The group and version of the resource.'),
    kind: text('Event'),
    metadata: { type: 'object', description: 'The position as name and resourceVersion, and the id as uid.' },
    id: text('The id of the event.'),
    event: text('The kind of the event, for example ObjectUpdated or AccessRecorded.'),
    position: text('The position of the event in the log.'),
    resourceVersion: text('The same, as metadata.resourceVersion of the object.'),
    stream: text('The stream of the log that has the event.'),
    type: text('<plural>.<group> of the object; for an event of no object, the category of its stream.'),
    name: text('The name of the object; for an event of no object, the rest of its stream.'),
    uid: text('The uid of the object.'),
    version: whole('metadata.version of the object after the event.'),
    time: time('The time of the event.'),
    actor: text('The user, plugin:<name> for a plugin with its own rights, or system:<part> for the platform.'),
    onBehalfOf: text('The user of the request for which a plugin made the write with its own rights.'),
    token: text('The name of the personal access token of the request.'),
    verb: text('The verb of the request.'),
    address: text('The address of the client.'),
    userAgent: text('The program of the client, as it names itself.'),
    requestId: text('The id of the request.'),
    traceParent: text('The W3C trace context of the request.'),
    plugin: text('The plugin that made the write.'),
    cause: text('The id of the event that a reconciler reacted to.'),
    correlationId: text('The id of the request at the beginning of the chain.'),
    dataSha256: text('For secrets: the SHA-256 of the data of the event, in hex.'),
    data: { type: 'object', description: 'The data of the event, with include=data; always of log-ins and refusals.' },
    object: { type: 'object', description: 'The object after the event, with include=object.' },
    change: {
      type: 'array',
      items: { type: 'object' },
      description: 'With include=change: the change since the event before, as a JSON Patch (RFC 6902).',
    },
  },
  ['apiVersion', 'kind', 'metadata', 'id', 'event', 'position', 'stream', 'type', 'name', 'version', 'time'],
);

const eventListSchema = object('Events of the log.', {
  apiVersion: text('The group and version of the resource.'),
  kind: text('EventList'),
  metadata: referenceTo(listMeta),
  items: { type: 'array', items: referenceTo(auditEvent), description: 'The events.' },
});

const listParameters: readonly Parameter[] = [
  query(
    'fieldSelector',
    { type: 'string' },
    'Requirements on members of events, for example actor=jane,verb!=create,time>=2026-01-01T00:00:00Z.',
  ),
  query(
    'sort',
    { type: 'string', enum: ['position', 'position,asc', 'position,desc'] },
    'The order of the events: the oldest first, or with position,desc the newest.',
  ),
  query('include', { type: 'string' }, 'Further members, with commas between them: object, change, data.'),
];

export const auditEventEntries: Entries = {
  'GET /apis/audit.*/v1alpha1/events': {
    id: 'listAuditEvents',
    tag: 'Audit',
    summary: 'List or watch the events of the log',
    parameters: [...listParameters, ...continueParameters, ...freshnessParameters, ...watchParameters],
    answer: { types: ['application/json'], schema: referenceTo(auditEventList) },
  },
  'GET /apis/audit.*/v1alpha1/events/{name}': {
    id: 'getAuditEvent',
    tag: 'Audit',
    summary: 'Get an event of the log by its position',
    answer: { types: ['application/json'], schema: referenceTo(auditEvent) },
  },
};

export const auditEventSchemas: readonly (readonly [string, Schema])[] = [
  [auditEvent, eventSchema],
  [auditEventList, eventListSchema],
];
