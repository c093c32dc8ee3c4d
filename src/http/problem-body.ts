import { dottedPath } from '../command/refuse.ts';
import type { Violation } from '../resource/type/resource-type.ts';
import { parseAccept } from './body/accept-header.ts';
import { prefersYaml } from './body/prefers-yaml.ts';
import { problems, type Problem } from './problem.ts';
import { jsonType, yamlType } from './body/media-types.ts';
import { yamlOf } from './representation/yaml-answers.ts';

export type ProblemContext = {
  readonly domain: string;
  /** The path as sent, without the query. */
  readonly path: string;
  readonly accept: string | undefined;
  readonly requestId: string;
  /** The time of the refusal (RFC 3339). */
  readonly time: string;
  /** The resource in the path; undefined if the path names no resource. */
  readonly resource?: { readonly group: string; readonly resource: string; readonly name?: string } | undefined;
};

export type ProblemAnswer = {
  readonly status: number;
  readonly headers: readonly string[];
  readonly bytes: Buffer;
};

/**
 * Returns the response to a refusal, as problem details (RFC 9457) or as a Kubernetes `Status`. One body cannot have
 * both forms: `status` is a number in problem details, and clients of Kubernetes decode `status` as a string.
 */
export function problemAnswer(refusal: Problem, context: ProblemContext): ProblemAnswer {
  const { status, word, title } = problems[refusal.reason];
  const members = {
    type: `https://${context.domain}/problems/${slug(word)}`,
    title,
    detail: refusal.detail,
    instance: context.path,
    reason: word,
    requestId: context.requestId,
    timestamp: context.time,
    ...(refusal.violations === undefined ? {} : { errors: refusal.violations }),
  };
  const pure = wantsProblemJson(context);
  const body = pure
    ? { ...members, status }
    : {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: refusal.detail,
        code: status,
        ...members,
        details: details(refusal, context),
      };
  const isYaml = !pure && prefersYaml(context.accept);
  const type = pure ? 'application/problem+json' : isYaml ? yamlType : jsonType;
  const headers = ['Content-Type', type, ...(refusal.headers ?? [])];
  if (refusal.retryAfterSeconds !== undefined)
    headers.push('Retry-After', String(wholeSeconds(refusal.retryAfterSeconds)));
  const json = Buffer.from(JSON.stringify(body));
  return { status, headers, bytes: isYaml ? yamlOf(json) : json };
}

/** Converts a reason to lower case with hyphens: `NotFound` becomes `not-found`. */
function slug(word: string): string {
  return word.replaceAll(/(?!^)[A-Z]/gu, (letter) => `-${letter}`).toLowerCase();
}

function wantsProblemJson({ path, accept }: ProblemContext): boolean {
  if (!/^\/+apis?(?:\/|$)/u.test(path)) return true;
  // A wildcard does not request problem details, because clients without support for problem details send wildcards.
  return parseAccept(accept).some(({ type }) => type === 'application/problem+json');
}

/** Returns the `details` of a Status. As in Kubernetes, `kind` is the resource, or the kind of an invalid object. */
function details(refusal: Problem, { resource }: ProblemContext): object {
  const { about = {}, violations = [], causes = [], retryAfterSeconds } = refusal;
  const all = [...violations.map((violation) => causeOf(violation, refusal)), ...causes];
  // JSON omits undefined members.
  return {
    name: about.name ?? resource?.name,
    group: resource?.group,
    kind: (refusal.reason === 'invalid' ? about.kind : undefined) ?? resource?.resource,
    causes: all.length === 0 ? undefined : all,
    retryAfterSeconds: retryAfterSeconds === undefined ? undefined : wholeSeconds(retryAfterSeconds),
  };
}

/** Rounds to at least one second, because a Retry-After of 0 would mean an immediate retry. */
function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}

function causeOf({ pointer, detail }: Violation, refusal: Problem): object {
  const reason =
    refusal.reason === 'unique-value-taken'
      ? 'FieldValueDuplicate'
      : /\brequired\b|\bmissing\b/u.test(detail)
        ? 'FieldValueRequired'
        : 'FieldValueInvalid';
  // kubectl prints the field before the message, so the field is never empty.
  return {
    reason,
    message: detail,
    field: pointer === '' ? (refusal.root ?? 'object') : dottedPath(pointer),
  };
}
