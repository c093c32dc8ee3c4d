import type { Schema } from '../resource/schema/schema-check.ts';
import { camelCase, referenceTo, tagOf, type GroupVersionKind, type UniqueNames } from './names.ts';
import type { Content, Method, Operation, Response } from './operation.ts';
import { reviewSchema, reviewSchemaName, reviewsByPath, type ReviewDescription } from './review-schemas.ts';
import { deleteOptions, patch } from './standard-schemas.ts';
import { refusals, type MediaTypes } from './type-operations.ts';

/** A route of the platform outside of generated APIs. */
export type PlatformPath = { readonly method: string; readonly pattern: string };

export type PlatformContext = {
  readonly domain: string;
  readonly media: MediaTypes;
  readonly ids: UniqueNames;
  /** The schema of a kind of the core group, or of its list. */
  readonly schemaOf: (kind: string) => Schema;
};

type Entry = {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly body?: Content;
  readonly status?: string;
  readonly answer?: Content;
  /** The kind that it creates. */
  readonly kind?: GroupVersionKind;
};

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const json = ['application/json'];

function members(properties: Readonly<Record<string, Schema>>, required?: readonly string[]): Schema {
  return { type: 'object', properties, ...(required === undefined ? {} : { required }) };
}

function plain(id: string, summary: string): Entry {
  return { id, tag: 'Health', summary, answer: { types: ['text/plain'], schema: text } };
}

function document(id: string, summary: string, tag = 'Discovery'): Entry {
  return { id, tag, summary, answer: { types: json, schema: { type: 'object' } } };
}

const health = {
  'GET /healthz': plain('getHealth', 'Whether the server runs'),
  'GET /livez': plain('getLiveness', 'Whether the server runs'),
  'GET /readyz': plain('getReadiness', 'Whether the server is ready'),
  'GET /metrics': plain('getMetrics', 'Metrics in the text format of Prometheus'),
  'GET /version': document('getVersion', 'The version of the server', 'Health'),
};

const discovery = {
  'GET /api': document('listCoreVersions', 'Versions of the core group'),
  'GET /api/{version}': document('listCoreResources', 'Resources of the core group'),
  'GET /apis': document('listGroups', 'Groups'),
  'GET /apis/{group}': document('getGroup', 'A group'),
  'GET /apis/{group}/{version}': document('listResources', 'Resources of a group'),
};

const credentials = members({ username: text, password: text }, ['username', 'password']);
const sessions = {
  'POST /login': {
    id: 'logIn',
    tag: 'Session',
    summary: 'Log in: sets a cookie',
    body: { types: [...json, 'application/x-www-form-urlencoded'], schema: credentials },
    answer: { types: json, schema: members({ username: text, csrfToken: text }) },
  },
  'POST /logout': { id: 'logOut', tag: 'Session', summary: 'End the session', status: '204' },
};

function review(description: ReviewDescription): Entry {
  const { group, version, kind, summary } = description;
  const schema = referenceTo(reviewSchemaName(description));
  return {
    id: `create${kind}`,
    tag: tagOf({ kind, version }),
    summary,
    kind: { group, version, kind },
    body: { types: json, schema },
    status: '201',
    answer: { types: json, schema },
  };
}

const reviews = Object.fromEntries([...reviewsByPath].map(([path, described]) => [`POST ${path}`, review(described)]));

type Entries = Readonly<Record<string, Entry>>;

/** By method and path, where `*` stands for the platform's domain. */
function entriesOf(context: PlatformContext): Entries {
  const fixed = { ...health, ...discovery, ...sessions, ...reviews, ...audits };
  return { ...fixed, ...accountEntries(context), ...consoleEntries(context) };
}

function accountEntries({ media, schemaOf }: PlatformContext): Entries {
  const of = (kind: string): Content => ({ types: media.answer, schema: schemaOf(kind) });
  const account = '/apis/uc.api.*/v1alpha1';
  const user = { tag: 'Account', answer: of('User') };
  const token = { tag: 'Account', answer: of('PersonalAccessToken') };
  const passwords = members({ currentPassword: text, password: text }, ['currentPassword', 'password']);
  return {
    [`GET ${account}/users/-`]: { ...user, id: 'getOwnUser', summary: 'One’s own user' },
    [`PUT ${account}/users/-`]: { ...user, id: 'updateOwnUser', summary: 'Change one’s own user', body: of('User') },
    [`PUT ${account}/users/-/password`]: {
      ...user,
      id: 'updateOwnPassword',
      summary: 'Change one’s own password',
      body: { types: json, schema: passwords },
    },
    [`GET ${account}/personalaccesstokens`]: {
      ...token,
      id: 'listOwnTokens',
      summary: 'One’s own tokens',
      answer: of('PersonalAccessTokenList'),
    },
    [`POST ${account}/personalaccesstokens`]: {
      ...token,
      id: 'createOwnToken',
      summary: 'Create a token: its text is only in this answer',
      body: of('PersonalAccessToken'),
      status: '201',
    },
    [`GET ${account}/personalaccesstokens/{name}`]: { ...token, id: 'getOwnToken', summary: 'One of one’s own tokens' },
    [`PATCH ${account}/personalaccesstokens/{name}`]: {
      ...token,
      id: 'patchOwnToken',
      summary: 'Patch one of one’s own tokens',
      body: { types: media.patch, schema: referenceTo(patch) },
    },
    [`DELETE ${account}/personalaccesstokens/{name}`]: {
      ...token,
      id: 'deleteOwnToken',
      summary: 'Delete one of one’s own tokens',
      body: { types: json, schema: referenceTo(deleteOptions) },
    },
  };
}

const lines = { types: ['application/jsonl'], schema: text };
const selection = { type: text, name: text };
const audits: Entries = {
  'POST /apis/audit.*/v1alpha1/replays': {
    id: 'replayLog',
    tag: 'Audit',
    summary: 'Replay the log: compare the read models with it, or show the state at a moment, as JSON lines',
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
};

function consoleEntries({ schemaOf }: PlatformContext): Entries {
  const root = '/apis/api.console.*/v1alpha1';
  const permissions = {
    types: json,
    schema: members({
      roles: { type: 'array', items: schemaOf('Role') },
      permissions: { type: 'array', items: schemaOf('Role') },
      uiPermissions: texts,
    }),
  };
  const upload = {
    types: ['multipart/form-data'],
    schema: members({ file: { type: 'string', format: 'binary' } }, ['file']),
  };
  return {
    [`GET ${root}/users/{name}/permissions`]: {
      id: 'getUserPermissions',
      tag: 'Permissions',
      summary: 'Roles and permissions of a user; - is the caller',
      answer: permissions,
    },
    [`POST ${root}/users/{name}/permissions`]: {
      id: 'replaceUserRoles',
      tag: 'Permissions',
      summary: 'Replace the roles of a user',
      body: { types: json, schema: members({ roles: texts }, ['roles']) },
      answer: permissions,
    },
    [`GET ${root}/roletemplates`]: {
      id: 'listRoleTemplates',
      tag: 'Permissions',
      summary: 'Roles for assignment, by module',
      answer: { types: json, schema: { type: 'array', items: { type: 'object' } } },
    },
    [`POST ${root}/plugins/install`]: {
      id: 'installPlugin',
      tag: 'Plugins',
      summary: 'Install a plugin from a package',
      body: upload,
      status: '201',
      answer: { types: json, schema: { type: 'object' } },
    },
    [`POST ${root}/plugins/{name}/upgrade`]: {
      id: 'upgradePlugin',
      tag: 'Plugins',
      summary: 'Replace a plugin by another package',
      body: upload,
      answer: { types: json, schema: { type: 'object' } },
    },
  };
}

/** Operations for all given routes; a route without a description here is described by its path alone. */
export function platformOperations(paths: readonly PlatformPath[], context: PlatformContext): readonly Operation[] {
  const entries = entriesOf(context);
  return paths.flatMap(({ method, pattern }) => {
    const name = methodOf(method);
    if (name === undefined) return [];
    const entry = entries[`${method} ${pattern.replace(`.${context.domain}/`, '.*/')}`];
    return [operationOf({ method: name, pattern }, entry, context)];
  });
}

/** The named schemas that the operations of these paths refer to, beside the standard ones. */
export function platformSchemas(paths: readonly PlatformPath[]): readonly (readonly [string, Schema])[] {
  return paths
    .map(({ pattern }) => reviewsByPath.get(pattern))
    .filter((described) => described !== undefined)
    .map((described) => [reviewSchemaName(described), reviewSchema(described)]);
}

function operationOf(
  { method, pattern }: { readonly method: Method; readonly pattern: string },
  entry: Entry | undefined,
  { ids }: PlatformContext,
): Operation {
  const wanted = entry?.id ?? `${method}${camelCase(pattern)}`;
  return {
    method,
    path: pattern,
    operationId: ids.take(wanted, 'Route'),
    tag: entry?.tag ?? 'Platform',
    ...(entry === undefined ? {} : { summary: entry.summary }),
    ...(entry?.kind === undefined ? {} : { action: 'post', kind: entry.kind }),
    parameters: pathParameters(pattern),
    ...(entry?.body === undefined ? {} : { body: { ...entry.body, required: method !== 'delete' } }),
    responses: [answerOf(entry), refusals],
  };
}

function answerOf(entry: Entry | undefined): Response {
  return {
    status: entry?.status ?? '200',
    description: 'The answer.',
    ...(entry?.answer === undefined ? {} : { content: [entry.answer] }),
  };
}

export function pathParameters(pattern: string): Operation['parameters'] {
  return [...pattern.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }));
}

const methods: ReadonlyMap<string, Method> = new Map([
  ['GET', 'get'],
  ['PUT', 'put'],
  ['POST', 'post'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

export function methodOf(method: string): Method | undefined {
  return methods.get(method);
}
