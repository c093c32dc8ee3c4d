import type { Schema } from '../resource/schema/schema-check.ts';
import { auditEventSchemas } from './platform/audit-events.ts';
import { flag, object, text, textMap, texts, time, whole } from './described.ts';
import { causeSchemas, changeSchema, objectSchema, placeSchemas, versionSchema } from './event-members.ts';
import { referenceTo } from './names.ts';

/** Schemas that every document contains, with only the keywords that all versions of OpenAPI share. */
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
export const objectMeta = `${meta}.ObjectMeta`;
export const listMeta = `${meta}.ListMeta`;
export const status = `${meta}.Status`;
export const deleteOptions = `${meta}.DeleteOptions`;
export const patch = `${meta}.Patch`;
export const problemName = 'Problem';
export const scaleName = 'io.k8s.api.autoscaling.v1.Scale';
export const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;
export const objectHistory = 'ObjectHistory';
const historyEntry = 'HistoryEntry';
const ownerReference = `${meta}.OwnerReference`;
const preconditions = `${meta}.Preconditions`;
const statusDetails = `${meta}.StatusDetails`;

/** All members that the metadata of an object may contain. Clients validate files against this schema. */
const objectMetaSchema = object('The metadata of an object. In a request, null means absent.', {
  name: text('Unique within the type: a DNS subdomain. Required unless generateName is set.'),
  generateName: text('If name is empty, the prefix of a name that the server draws.'),
  namespace: text('Always empty: objects have no namespace.'),
  uid: text('The id of this object. A later object of the same name has a different uid. Set by the server.'),
  version: whole('The revision of the object. In a PUT or PATCH, the version that must be current.'),
  resourceVersion: text(
    'The position of the last change in the log. In a PUT or PATCH, the position that must be current.',
  ),
  generation: whole('Increases when spec changes. Set by the server.'),
  creationTimestamp: time('The time of the create, in UTC. Set by the server.'),
  deletionTimestamp: time(
    'The time of the request for deletion, while finalizers block the removal. Set by the server.',
  ),
  deletionGracePeriodSeconds: whole('Ignored.'),
  labels: textMap('Labels, which selectors match.'),
  annotations: textMap('Annotations, at most 256 KiB in total.'),
  finalizers: texts('The object is removed when it is marked for deletion and this list is empty.'),
  ownerReferences: {
    type: 'array',
    items: referenceTo(ownerReference),
    description: 'The owners of the object. When all owners are deleted, the object is deleted.',
  },
  managedFields: { type: 'array', items: { type: 'object' }, description: 'Ignored.' },
  selfLink: text('Ignored.'),
});

const ownerReferenceSchema = object(
  'An owner of an object.',
  {
    apiVersion: text('The group and version of the owner.'),
    kind: text('The kind of the owner.'),
    name: text('The name of the owner.'),
    uid: text('The uid of the owner.'),
    controller: flag('Whether the owner is the controller of the object.'),
    blockOwnerDeletion: flag('Whether a foreground deletion of the owner waits for the object.'),
  },
  ['apiVersion', 'kind', 'name', 'uid'],
);

const listMetaSchema = object('The metadata of a list.', {
  resourceVersion: text('The position of the log at which the list was read. A watch can continue from this position.'),
  continue: text('The token of the next page; absent on the last page, and without the parameter limit.'),
  remainingItemCount: whole('The number of objects after this page.'),
  selfLink: text('Not used.'),
});

const historyEntrySchema = object(
  'An event of an object, with its cause and its change.',
  {
    id: text('The id of the event.'),
    event: text('ObjectCreated, ObjectUpdated, ObjectDeletionRequested, ObjectDeleted or NameFenced.'),
    ...placeSchemas,
    version: versionSchema,
    uid: text('The uid of the object. A later object of the same name has a different uid.'),
    ...causeSchemas,
    change: changeSchema('The change since the previous event, as a JSON Patch (RFC 6902).'),
    object: objectSchema,
  },
  ['id', 'event', 'position', 'resourceVersion', 'version', 'uid', 'time', 'actor', 'verb', 'requestId', 'change'],
);

const objectHistorySchema = object('Events of the objects that had a name.', {
  apiVersion: text('The group and version of the type.'),
  kind: text('ObjectHistory'),
  metadata: referenceTo(listMeta),
  items: { type: 'array', items: referenceTo(historyEntry), description: 'The events.' },
});

const problemMembers = {
  type: text('The kind of the problem, as a URI.'),
  title: text('The kind of the problem, in words.'),
  detail: text('The reason for this refusal.'),
  instance: text('The path of the request.'),
  reason: text('The kind of the problem, as a fixed identifier.'),
  requestId: text('The id of the request, which is also in the server log.'),
  timestamp: time('The time of the refusal.'),
  errors: {
    type: 'array',
    description: 'One entry for each violation.',
    items: {
      type: 'object',
      properties: { pointer: text('The location, as a JSON pointer.'), detail: text('The violation.') },
    },
  },
};

const statusSchema = object('A refusal.', {
  apiVersion: text('v1'),
  kind: text('Status'),
  metadata: object('Empty.', {}),
  status: text('Failure'),
  message: text('The reason for this refusal.'),
  code: whole('The status of the response.'),
  details: { allOf: [referenceTo(statusDetails)], description: 'The object, and the causes.' },
  ...problemMembers,
});

const statusDetailsSchema = object('The object of a refusal.', {
  name: text('The name of the object.'),
  group: text('The group of the resource.'),
  kind: text('The resource; for an invalid object, the kind of the object.'),
  uid: text('The uid of the object.'),
  retryAfterSeconds: whole('The time in seconds after which a retry may succeed.'),
  causes: {
    type: 'array',
    description: 'One entry for each cause.',
    items: {
      type: 'object',
      properties: {
        reason: text('The kind of the cause.'),
        message: text('The cause.'),
        field: text('The location of the cause.'),
      },
    },
  },
});

const deleteOptionsSchema = object('Options of a deletion.', {
  apiVersion: text('v1'),
  kind: text('DeleteOptions'),
  dryRun: texts('[All]: the request is checked, and nothing is deleted.'),
  preconditions: { allOf: [referenceTo(preconditions)], description: 'The state that the object must have.' },
  propagationPolicy: text('Background, Foreground or Orphan: how objects that this object owns are deleted.'),
  gracePeriodSeconds: whole('Ignored.'),
  orphanDependents: flag('Ignored: propagationPolicy replaces it.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: flag('Ignored.'),
});

export const standardSchemas: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  [objectMeta, objectMetaSchema],
  [ownerReference, ownerReferenceSchema],
  [listMeta, listMetaSchema],
  [objectHistory, objectHistorySchema],
  [historyEntry, historyEntrySchema],
  ...auditEventSchemas,
  [status, statusSchema],
  [statusDetails, statusDetailsSchema],
  [deleteOptions, deleteOptionsSchema],
  [
    preconditions,
    object('The state that the object must have.', {
      uid: text('The uid.'),
      resourceVersion: text('The resourceVersion.'),
    }),
  ],
  [patch, { description: 'A patch of the media type: an array of operations (RFC 6902) or an object (RFC 7396).' }],
  [problemName, object('A refusal (RFC 9457).', { ...problemMembers, status: whole('The status of the response.') })],
]);

const replicas = { ...whole('The number of replicas.'), minimum: 0 };

/** The schema of a Scale, for documents with a type that has the subresource scale. */
export const scaleSchema: Schema = {
  ...object('The number of replicas of an object.', {
    apiVersion: text('autoscaling/v1'),
    kind: text('Scale'),
    metadata: { allOf: [referenceTo(objectMeta)], description: 'The name and the versions of the object.' },
    spec: object('The desired number of replicas.', { replicas }),
    status: object('The actual number of replicas.', {
      replicas,
      selector: text('The label selector of the replicas, for autoscalers.'),
    }),
  }),
  'x-kubernetes-group-version-kind': [scaleKind],
};
