import type { Schema } from '../../resource/schema/schema-check.ts';
import { object, text } from '../described.ts';
import { causeSchemas, changeSchema, objectSchema, placeSchemas, versionSchema } from '../event-members.ts';
import { referenceTo } from '../names.ts';
import type { Parameter } from '../operation.ts';
import { continueParameters, freshnessParameters, query, watchParameters } from '../parameters.ts';
import type { Entries } from './platform-entries.ts';

/** The name of the schema for the metadata of lists, which every document contains. */
const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';
const auditEvent = 'AuditEvent';
const auditEventList = 'AuditEventList';

const eventSchema = object(
  'An event of the log.',
  {
    apiVersion: text('The group and version of the resource.'),
    kind: text('Event'),
    metadata: { type: 'object', description: 'name and resourceVersion are the position of the event; uid is the id.' },
    id: text('The id of the event.'),
    event: text('The kind of the event, for example ObjectUpdated or AccessRecorded.'),
    ...placeSchemas,
    stream: text('The stream of the log that contains the event.'),
    type: text('<plural>.<group> of the object. Without an object, the category of the stream.'),
    name: text('The name of the object. Without an object, the rest of the name of the stream.'),
    uid: text('The uid of the object.'),
    version: versionSchema,
    ...causeSchemas,
    correlationId: text('The id of the request that started the chain of events.'),
    dataSha256: text('For secrets: the SHA-256 of the data of the event, in hex.'),
    data: {
      type: 'object',
      description: 'The data of the event. Present with include=data, and always for log-ins and refusals.',
    },
    object: objectSchema,
    change: changeSchema('With include=change: the change since the previous event, as a JSON Patch (RFC 6902).'),
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
    'The order of the events: oldest first, or newest first with position,desc.',
  ),
  query('include', { type: 'string' }, 'Additional members, separated by commas: object, change, data.'),
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
