import { isList, isObject } from '../../base/guards.ts';
import type { Json } from '../../base/json.ts';
import type { Part, Patch, Preconditions, WriteContext } from '../../command/command.ts';
import type { Propagation } from '../../command/propagation.ts';
import { ifMatchOf } from './conditional-requests.ts';
import { shown, unsupported, type Decoded } from './decode-list-query.ts';
import { causeOf, disconnectSignalOf, type Exchange } from '../exchange.ts';
import { problem, type ProblemResult } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';

/** Decodes the caller and the options of a write from the head of the request. */
export function writeContext(exchange: Exchange, { hasPast = false } = {}): Decoded<WriteContext> {
  const misnamed = checkParameterNames(exchange.query, { hasPast });
  if (misnamed !== undefined) return { ok: false, problem: misnamed };
  const dryRun = dryRunOf(exchange.query.getAll('dryRun'));
  if (!dryRun.ok) return dryRun;
  const fieldValidation = fieldValidationOf(exchange.query.get('fieldValidation') ?? '');
  if (!fieldValidation.ok) return fieldValidation;
  const { subject } = exchange;
  return {
    ok: true,
    value: {
      cause: causeOf(exchange),
      dryRun: dryRun.value,
      fieldValidation: fieldValidation.value,
      origin: 'client',
      subject,
      signal: () => disconnectSignalOf(exchange.res),
    },
  };
}

export function partOf({ info }: Exchange): Part | 'scale' {
  const subresource = info.kind === 'resource' ? info.subresource : undefined;
  return subresource === 'status' || subresource === 'scale' ? subresource : 'main';
}

export function preconditionsOf(exchange: Exchange): Preconditions {
  const ifMatch = ifMatchOf(exchange.req);
  return ifMatch === undefined ? {} : { ifMatch };
}

export type JsonMembers = { readonly [member: string]: Json };

export function decodeObject(body: Json): Decoded<JsonMembers> {
  return isObject(body) ? { ok: true, value: body } : refused('the body must be a JSON object');
}

export const patchTypes = ['application/json-patch+json', 'application/merge-patch+json'] as const;

export function decodePatch(mediaType: string, body: Json): Decoded<Patch> {
  if (mediaType === 'application/merge-patch+json') {
    return isObject(body)
      ? { ok: true, value: { kind: 'merge', document: body } }
      : refused('a merge patch of an object must be a JSON object');
  }
  return isList(body)
    ? { ok: true, value: { kind: 'json', operations: body } }
    : refused('a JSON Patch must be an array of operations');
}

export type DeleteOptions = {
  readonly dryRun: boolean;
  readonly preconditions: Preconditions;
  readonly propagation: Propagation | undefined;
};

/** Decodes Kubernetes' DeleteOptions from a body and from query parameters. Unsupported members are ignored. */
export function decodeDeleteOptions(body: JsonMembers, query: URLSearchParams): Decoded<DeleteOptions> {
  const propagation = propagationOf(body['propagationPolicy'] ?? query.get('propagationPolicy'));
  if (!propagation.ok) return propagation;
  const preconditions = decodePreconditions(body['preconditions'] ?? {});
  if (!preconditions.ok) return preconditions;
  const rawDryRun = body['dryRun'] ?? [];
  if (!isList(rawDryRun) || !rawDryRun.every((value) => typeof value === 'string'))
    return refused('DeleteOptions: dryRun must be an array of strings');
  const dryRun = dryRunOf(rawDryRun);
  return dryRun.ok
    ? { ok: true, value: { dryRun: dryRun.value, preconditions: preconditions.value, propagation: propagation.value } }
    : dryRun;
}

function propagationOf(policy: Json): Decoded<Propagation | undefined> {
  switch (policy) {
    case null:
    case '':
      return { ok: true, value: undefined };
    case 'Orphan':
    case 'Background':
    case 'Foreground':
      return { ok: true, value: policy };
    default:
      return {
        ok: false,
        problem: unsupported(
          'propagationPolicy',
          'must be Orphan, Background or Foreground, is ' +
            shown(typeof policy === 'string' ? policy : JSON.stringify(policy)),
        ),
      };
  }
}

function decodePreconditions(given: Json): Decoded<Preconditions> {
  if (!isObject(given)) return refused('DeleteOptions: preconditions must be an object');
  const { uid = null, resourceVersion = null } = given;
  if (!isTextOrNull(uid) || !isTextOrNull(resourceVersion))
    return refused('DeleteOptions: preconditions.uid and .resourceVersion must be strings');
  return {
    ok: true,
    value: { ...(uid === null ? {} : { uid }), ...(resourceVersion === null ? {} : { resourceVersion }) },
  };
}

function dryRunOf(values: readonly string[]): Decoded<boolean> {
  const other = values.find((value) => value !== 'All');
  return other === undefined
    ? { ok: true, value: values.length > 0 }
    : { ok: false, problem: unsupported('dryRun', `must be All, is ${shown(other)}`) };
}

function fieldValidationOf(text: string): Decoded<WriteContext['fieldValidation']> {
  switch (text) {
    case '':
      return { ok: true, value: undefined };
    case 'Strict':
    case 'Warn':
    case 'Ignore':
      return { ok: true, value: text };
    default:
      return {
        ok: false,
        problem: unsupported('fieldValidation', `must be Strict, Warn or Ignore, is ${shown(text)}`),
      };
  }
}

function isTextOrNull(value: Json): value is string | null {
  return value === null || typeof value === 'string';
}

function refused(detail: string): ProblemResult {
  return { ok: false, problem: problem('bad-request', detail) };
}
