import type { Schema } from '../../resource/schema/schema-check.ts';
import type { GroupVersionKind } from '../names.ts';
import type { Content, Parameter } from '../operation.ts';

export type Entry = {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: Content;
  readonly status?: string;
  /** The body of the response. The document adds other media types to a JSON response. */
  readonly answer?: Content;
  /** The kind that the route creates. */
  readonly kind?: GroupVersionKind;
};

export type Entries = Readonly<Record<string, Entry>>;

export const text = { type: 'string' };
export const texts = { type: 'array', items: text };
export const json = ['application/json'];

export function members(properties: Readonly<Record<string, Schema>>, required?: readonly string[]): Schema {
  return { type: 'object', properties, ...(required === undefined ? {} : { required }) };
}

function plain(id: string, summary: string): Entry {
  return {
    id,
    tag: 'Health',
    summary,
    answer: { types: ['text/plain'], schema: text },
  };
}

function document(id: string, summary: string, tag = 'Discovery'): Entry {
  return {
    id,
    tag,
    summary,
    answer: { types: json, schema: { type: 'object' } },
  };
}

const credentials = members({ username: text, password: text }, ['username', 'password']);
const providerSummary = 'Log in at the identity provider; the query parameter `return` is the path to return to';
export const sessions = {
  'POST /login': {
    id: 'logIn',
    tag: 'Session',
    summary: 'Log in: sets a cookie',
    body: { types: [...json, 'application/x-www-form-urlencoded'], schema: credentials },
    answer: { types: json, schema: members({ username: text, csrfToken: text }) },
  },
  'GET /login/methods': {
    id: 'listLogInMethods',
    tag: 'Session',
    summary: 'List the ways to log in',
    answer: { types: json, schema: members({ methods: { type: 'array', items: { type: 'object' } } }) },
  },
  'GET /login/oidc': { id: 'beginProviderLogIn', tag: 'Session', summary: providerSummary, status: '303' },
  'GET /login/oidc/callback': {
    id: 'finishProviderLogIn',
    tag: 'Session',
    summary: 'Finish a log-in at the identity provider: sets a cookie',
    status: '303',
  },
  'GET /session': {
    id: 'getSession',
    tag: 'Session',
    summary: 'Get the user and the CSRF token of the session',
    answer: { types: json, schema: members({ username: text, csrfToken: text, expiresAt: text }) },
  },
  'POST /logout': { id: 'logOut', tag: 'Session', summary: 'End the session', status: '204' },
};

/** `*` in a path means the platform's domain. */
export const previews = {
  'POST /apis/api.console.*/v1alpha1/accesspreviews': {
    id: 'previewAccess',
    tag: 'Permissions',
    summary: 'Explain the access of a user or a role, now and after proposed changes. Nothing is written',
    body: {
      types: [...json, 'application/yaml'],
      schema: members({
        user: text,
        role: text,
        requests: { type: 'array', items: { type: 'object' } },
        matrix: { type: 'boolean' },
        group: text,
        proposed: members({
          roles: { type: 'array', items: { type: 'object' } },
          removedRoles: texts,
          boundRoles: texts,
        }),
      }),
    },
    answer: {
      types: json,
      schema: members({ current: { type: 'object' }, proposed: { type: 'object' } }, ['current']),
    },
  },
};

export const documents = {
  'GET /openapi/v2': {
    ...document('getSwagger', 'The types, in OpenAPI 2.0', 'Documents'),
    answer: {
      types: [...json, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'],
      schema: { type: 'object' },
    },
  },
  'GET /openapi/v3': document('listDocuments', 'The documents of groups', 'Documents'),
  'GET /openapi/v3/{root}': document('getRootDocument', 'Paths outside of groups, in OpenAPI 3.0', 'Documents'),
  'GET /openapi/v3/api/{version}': document('getCoreDocument', 'The core group, in OpenAPI 3.0', 'Documents'),
  'GET /openapi/v3/apis/{group}/{version}': document('getDocument', 'A group, in OpenAPI 3.0', 'Documents'),
  'GET /v3/api-docs': document('getApiDocument', 'All paths, in OpenAPI 3.1', 'Documents'),
};

export const health = {
  'GET /healthz': plain('getHealth', 'Whether the server runs'),
  'GET /livez': plain('getLiveness', 'Whether the server runs'),
  'GET /readyz': plain('getReadiness', 'Whether the server is ready'),
  'GET /metrics': plain('getMetrics', 'Metrics in the text format of Prometheus'),
  'GET /version': document('getVersion', 'The version of the server', 'Health'),
};

export const discovery = {
  'GET /api': document('listCoreVersions', 'Versions of the core group'),
  'GET /api/{version}': document('listCoreResources', 'Resources of the core group'),
  'GET /apis': document('listGroups', 'Groups'),
  'GET /apis/{group}': document('getGroup', 'A group'),
  'GET /apis/{group}/{version}': document('listResources', 'Resources of a group'),
};

const tile = { types: ['application/octet-stream'], schema: { type: 'string', format: 'binary' } };
const hashes = { origin: text, hashes: texts };
const count = { type: 'integer' };
const tileEntry = {
  tag: 'Audit',
  summary: 'Hashes or entries of the tree over the log (C2SP tlog-tiles)',
  answer: tile,
};
export const treeEntries: Entries = {
  'GET /audit/tree/checkpoint': {
    id: 'getCheckpoint',
    tag: 'Audit',
    summary: 'The size and root of the tree over the log, signed by this node (C2SP tlog-checkpoint)',
    answer: { types: ['text/plain'], schema: text },
  },
  'GET /audit/tree/keys': {
    id: 'listTreeKeys',
    tag: 'Audit',
    summary: 'The public keys of the nodes, each signed by an earlier key',
    answer: { types: json, schema: members({ origin: text, items: { type: 'array', items: { type: 'object' } } }) },
  },
  'GET /audit/tree/inclusion': {
    id: 'getInclusionProof',
    tag: 'Audit',
    summary: 'The proof that an event is in the tree. Parameters: index, or position and id; size',
    answer: { types: json, schema: members({ ...hashes, size: count, root: text, index: count, entry: text }) },
  },
  'GET /audit/tree/consistency': {
    id: 'getConsistencyProof',
    tag: 'Audit',
    summary: 'The proof that the tree of the size `from` is a prefix of the tree of the size `to`',
    answer: { types: json, schema: members({ ...hashes, from: count, fromRoot: text, to: count, toRoot: text }) },
  },
  'GET /audit/tree/tile/{level}/{a}': { ...tileEntry, id: 'getTile' },
  'GET /audit/tree/tile/{level}/{a}/{b}': { ...tileEntry, id: 'getTileOfTwo' },
  'GET /audit/tree/tile/{level}/{a}/{b}/{c}': { ...tileEntry, id: 'getTileOfThree' },
  'GET /audit/tree/tile/{level}/{a}/{b}/{c}/{d}': { ...tileEntry, id: 'getTileOfFour' },
};

const lines = { types: ['application/jsonl'], schema: text };
const selection = { type: text, name: text };
export const audits: Entries = {
  'POST /apis/audit.*/v1alpha1/replays': {
    id: 'replayLog',
    tag: 'Audit',
    summary: 'Replay the log: compare the read models with the log, or show the state at a moment, as JSON lines',
    body: { types: json, schema: members({ until: text, print: { type: 'boolean' }, ...selection }) },
    answer: lines,
  },
  'POST /apis/audit.*/v1alpha1/diffs': {
    id: 'diffMoments',
    tag: 'Audit',
    summary: 'The changes of objects between two moments, as JSON lines',
    body: { types: json, schema: members({ from: text, to: text, ...selection }, ['from', 'to']) },
    answer: lines,
  },
  'GET /apis/audit.*/v1alpha1/export': {
    id: 'exportLog',
    tag: 'Audit',
    summary: 'The events of the log with their proof, as JSON lines. Parameters: from, after, until',
    answer: lines,
  },
  'POST /apis/audit.*/v1alpha1/backups': {
    id: 'backUpLog',
    tag: 'Audit',
    summary: 'Back up the embedded log into a folder of BACKUP_DIR, as JSON lines',
    body: { types: json, schema: members({ name: text }) },
    answer: lines,
  },
};
