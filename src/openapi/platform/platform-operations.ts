import type { Schema } from '../../resource/schema/schema-check.ts';
import { camelCase, referenceTo, tagOf } from '../names.ts';
import type { Content, Method, Operation, Response } from '../operation.ts';
import { reviewSchema, reviewSchemaName, reviewsByPath, type ReviewDescription } from '../review-schemas.ts';
import { auditEventEntries } from './audit-events.ts';
import { consoleEntries } from './console-entries.ts';
import type { PlatformContext } from './platform-context.ts';
import {
  audits,
  discovery,
  documents,
  health,
  json,
  members,
  previews,
  sessions,
  text,
  treeEntries,
  type Entries,
  type Entry,
} from './platform-entries.ts';
import { deleteOptions, patch } from '../standard-schemas.ts';
import { refusalsIn, type MediaTypes } from '../type-operations.ts';

/** A route of the platform outside of generated APIs. */
export type PlatformPath = {
  readonly method: string;
  readonly pattern: string;
};

function review(description: ReviewDescription, { message }: MediaTypes): Entry {
  const { group, version, kind, summary } = description;
  const schema = referenceTo(reviewSchemaName(description));
  return {
    id: `create${kind}`,
    tag: tagOf({ kind, version }),
    summary,
    kind: { group, version, kind },
    body: { types: message, schema },
    status: '201',
    answer: { types: json, schema },
  };
}

function reviewEntries({ media }: PlatformContext): Entries {
  const entries = [...reviewsByPath].map(([path, described]) => [`POST ${path}`, review(described, media)] as const);
  return Object.fromEntries(entries);
}

/** Entries by method and path. `*` in a path means the platform's domain. */
function entriesOf(context: PlatformContext): Entries {
  return {
    ...documents,
    ...health,
    ...discovery,
    ...sessions,
    ...previews,
    ...reviewEntries(context),
    ...audits,
    ...treeEntries,
    ...auditEventEntries,
    ...accountEntries(context),
    ...consoleEntries(context),
  };
}

function accountEntries({ media, schemaOf }: PlatformContext): Entries {
  const of = (kind: string): Content => ({ types: media.answer, schema: schemaOf(kind) });
  const account = '/apis/uc.api.*/v1alpha1';
  const user = { tag: 'Account', answer: of('User') };
  const token = { tag: 'Account', answer: of('PersonalAccessToken') };
  const passwords = members({ currentPassword: text, password: text }, ['currentPassword', 'password']);
  return {
    [`GET ${account}/users/-`]: { ...user, id: 'getOwnUser', summary: 'Get the caller’s own user' },
    [`PUT ${account}/users/-`]: {
      ...user,
      id: 'updateOwnUser',
      summary: 'Change the caller’s own user',
      body: of('User'),
    },
    [`PUT ${account}/users/-/password`]: {
      ...user,
      id: 'updateOwnPassword',
      summary: 'Change the caller’s own password',
      body: { types: media.object, schema: passwords },
    },
    [`GET ${account}/personalaccesstokens`]: {
      ...token,
      id: 'listOwnTokens',
      summary: 'List the tokens of the caller',
      answer: of('PersonalAccessTokenList'),
    },
    [`POST ${account}/personalaccesstokens`]: {
      ...token,
      id: 'createOwnToken',
      summary: 'Create a token. Only this response contains the text of the token',
      body: of('PersonalAccessToken'),
      status: '201',
    },
    [`GET ${account}/personalaccesstokens/{name}`]: {
      ...token,
      id: 'getOwnToken',
      summary: 'Get a token of the caller',
    },
    [`PATCH ${account}/personalaccesstokens/{name}`]: {
      ...token,
      id: 'patchOwnToken',
      summary: 'Patch a token of the caller',
      body: { types: media.patch, schema: referenceTo(patch) },
    },
    [`DELETE ${account}/personalaccesstokens/{name}`]: {
      ...token,
      id: 'deleteOwnToken',
      summary: 'Delete a token of the caller',
      body: { types: media.message, schema: referenceTo(deleteOptions) },
    },
    ...ownSessionEntries(of, { types: media.message, schema: referenceTo(deleteOptions) }),
  };
}

function ownSessionEntries(of: (kind: string) => Content, deletion: Content): Entries {
  const path = '/apis/uc.api.*/v1alpha1/sessions';
  const session = { tag: 'Account', answer: of('Session') };
  const sessionList = { tag: 'Account', answer: of('SessionList') };
  return {
    [`GET ${path}`]: { ...sessionList, id: 'listOwnSessions', summary: 'List the sessions of the caller' },
    [`DELETE ${path}`]: {
      ...sessionList,
      id: 'deleteOwnOtherSessions',
      summary: 'End the sessions of the caller, except for the session of the request',
      body: deletion,
    },
    [`GET ${path}/{name}`]: {
      ...session,
      id: 'getOwnSession',
      summary: 'Get a session of the caller; the name - means the session of the request',
    },
    [`DELETE ${path}/{name}`]: {
      ...session,
      id: 'deleteOwnSession',
      summary: 'End a session of the caller; the name - means the session of the request',
      body: deletion,
    },
  };
}

/**
 * Returns the operations of the given routes, without routes with a method that `methodOf` does not know. The operation
 * of a route without an entry is derived from the method and the path alone.
 */
export function platformOperations(paths: readonly PlatformPath[], context: PlatformContext): readonly Operation[] {
  const entries = entriesOf(context);
  return paths.flatMap(({ method, pattern }) => {
    const name = methodOf(method);
    if (name === undefined) return [];
    const entry = entries[`${method} ${pattern.replace(`.${context.domain}/`, '.*/')}`];
    return [operationOf({ method: name, pattern }, entry, context)];
  });
}

export function platformSchemas(paths: readonly PlatformPath[]): readonly (readonly [string, Schema])[] {
  return paths
    .map(({ pattern }) => reviewsByPath.get(pattern))
    .filter((described) => described !== undefined)
    .map((described) => [reviewSchemaName(described), reviewSchema(described)]);
}

function operationOf(
  { method, pattern }: { readonly method: Method; readonly pattern: string },
  entry: Entry | undefined,
  { ids, media }: PlatformContext,
): Operation {
  const wanted = entry?.id ?? `${method}${camelCase(pattern)}`;
  return {
    method,
    path: pattern,
    operationId: ids.take(wanted, 'Route'),
    tag: entry?.tag ?? 'Platform',
    ...(entry === undefined ? {} : { summary: entry.summary }),
    ...(entry?.kind === undefined ? {} : { action: 'post', kind: entry.kind }),
    parameters: [...pathParameters(pattern), ...(entry?.parameters ?? [])],
    ...(entry?.body === undefined ? {} : { body: { ...entry.body, required: method !== 'delete' } }),
    responses: [answerOf(entry, media), refusalsIn(media.answer)],
  };
}

function answerOf(entry: Entry | undefined, { answer: types }: MediaTypes): Response {
  const answer = entry?.answer;
  const others = types.filter((type) => answer?.types.includes(type) === false);
  return {
    status: entry?.status ?? '200',
    description: 'The response.',
    ...(answer === undefined
      ? {}
      : {
          content: [
            answer.types.includes('application/json') ? { ...answer, types: [...answer.types, ...others] } : answer,
          ],
        }),
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
