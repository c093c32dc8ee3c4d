import { validateHeaderName, validateHeaderValue } from 'node:http';

import { isObject } from '../../base/guards.ts';
import type { RejectionReason } from '../../command/rejection.ts';
import { ClientError } from '../../plugin/api/plugin.ts';
import type { RouteEndpoint, ValueSchema } from '../../plugin/api/endpoints.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
import type { Violation } from '../../resource/type/resource-type.ts';
import type { Answer } from '../answer.ts';
import { problem, problems, type Problem } from '../problem.ts';
import { thrownMessage } from '../thrown-text.ts';

/** The decoded result of a plugin's handler, or a problem for the log. */
export type DecodedResponse =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | {
      readonly kind: 'events';
      readonly headers: ReadonlyMap<string, string>;
      readonly iterator: AsyncIterator<unknown>;
    }
  | { readonly kind: 'rubbish'; readonly problem: string; readonly violations?: readonly Violation[] };

const responseMembers = ['status', 'headers', 'body', 'events'];

const platformHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
]);

/** Decodes the result of a handler. Reading the result may throw; an exception becomes a problem. */
export function decodeResponse(result: unknown, responses: RouteEndpoint['responses']): DecodedResponse {
  try {
    return decode(result, responses);
  } catch (error) {
    return { kind: 'rubbish', problem: `the response cannot be read: ${thrownMessage(error)}` };
  }
}

type HandlerResult = {
  status?: unknown;
  headers?: unknown;
  body?: unknown;
  events?: unknown;
};

function decode(result: unknown, responses: RouteEndpoint['responses']): DecodedResponse {
  if (result !== undefined && !isObject(result))
    return { kind: 'rubbish', problem: 'the handler returned no response object' };
  const unknown = Object.keys(result ?? {}).find((member) => !responseMembers.includes(member));
  if (unknown !== undefined) {
    const name = JSON.stringify(unknown.slice(0, 64));
    return { kind: 'rubbish', problem: `the response has the member ${name}${otherWords(unknown, responseMembers)}` };
  }
  const { status, headers: rawHeaders = {}, body, events }: HandlerResult = result ?? {};
  const headers = headersOf(rawHeaders);
  if (typeof headers === 'string') return { kind: 'rubbish', problem: headers };
  if (events !== undefined) return decodeEvents(events, { status, headers, body });
  return decodeWhole({ status, headers, body, isNothing: result === undefined }, responses);
}

type Whole = {
  readonly status: unknown;
  readonly headers: Map<string, string>;
  readonly body: unknown;
  readonly isNothing: boolean;
};

function decodeWhole(
  { status, headers, body, isNothing }: Whole,
  responses: RouteEndpoint['responses'],
): DecodedResponse {
  const isTyped = headers.has('content-type');
  const bytes = bytesOf(body, headers);
  if (typeof bytes === 'string') return { kind: 'rubbish', problem: bytes };
  const code = status ?? (bytes === undefined ? 204 : 200);
  if (!isFinalStatus(code))
    return { kind: 'rubbish', problem: `the status ${describe(code)} is not an integer from 200 to 599` };
  const violations = isJson(headers) ? bodyViolations({ body, bytes, isTyped }, responses?.get(code)?.schema) : [];
  if (violations.length > 0)
    return { kind: 'rubbish', problem: `the body does not match the schema of status ${String(code)}`, violations };
  if (isNothing) return { kind: 'answer', answer: { kind: 'empty', status: 204, headers: [] } };
  return {
    kind: 'answer',
    answer: {
      kind: 'custom',
      status: code,
      headers,
      bytes: bodyless.has(code) ? undefined : (bytes ?? new Uint8Array()),
    },
  };
}

type ReturnedResponse = {
  readonly status: unknown;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: unknown;
};

/** Decodes a response with events. Browsers accept events only with status 200 and the type `text/event-stream`. */
function decodeEvents(events: unknown, { status, headers, body }: ReturnedResponse): DecodedResponse {
  if (body !== undefined) return { kind: 'rubbish', problem: 'the handler returned both a body and events' };
  if (status !== undefined && status !== 200)
    return { kind: 'rubbish', problem: `the handler returned events with the status ${describe(status)}` };
  if (headers.has('content-type'))
    return { kind: 'rubbish', problem: 'the handler returned events with a content type' };
  if (!isAsyncIterable(events)) return { kind: 'rubbish', problem: 'the events are not an async iterable' };
  return { kind: 'events', headers, iterator: events[Symbol.asyncIterator]() };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof value[Symbol.asyncIterator] === 'function'
  );
}

/** `isTyped` is true if the handler set a content type. */
type Answered = {
  readonly body: unknown;
  readonly bytes: Uint8Array | undefined;
  readonly isTyped: boolean;
};

/**
 * Returns the violations of a body. Text and bytes with a content type are parsed as JSON. Any other value is first
 * checked without parsing.
 */
function bodyViolations({ body, bytes, isTyped }: Answered, schema: ValueSchema | undefined): readonly Violation[] {
  if (schema === undefined) return [];
  if (bytes === undefined) return [{ pointer: '', detail: 'is required' }];
  const isText = isTyped && (typeof body === 'string' || body instanceof Uint8Array);
  const violations = isText ? schema.violations(parsed(bytes)) : schema.violations(body);
  // A Date or an undefined member has another JSON form, which may be valid.
  return violations.length === 0 || isText ? violations : schema.violations(parsed(bytes));
}

function parsed(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

function isJson(headers: ReadonlyMap<string, string>): boolean {
  const type = headers.get('content-type');
  return type === undefined || /^application\/(?:[\w.+-]+\+)?json\b/iu.test(type);
}

/**
 * If a handler does not catch a refusal of its client, and the reason is in this list, the caller receives the refusal.
 */
const passedOn: readonly RejectionReason[] = [
  'bad-request',
  'forbidden',
  'not-found',
  'already-exists',
  'stale-version',
  'unique-value-taken',
  'precondition-failed',
  'invalid',
  'too-many-requests',
  'insufficient-storage',
  'unavailable',
];

/** Decodes a refusal from an error. Any other error means that the handler failed. */
export function decodeRefusal(error: unknown): Problem | undefined {
  try {
    return error instanceof ClientError ? refusalOf(error) : undefined;
  } catch {
    // Reading a plugin's error may throw.
    return undefined;
  }
}

type ThrownRefusal = {
  message: unknown;
  status: unknown;
  reason?: unknown;
  errors?: unknown;
  retryAfterSeconds?: unknown;
};

function refusalOf(error: ClientError): Problem | undefined {
  const { message, status, ...more }: ThrownRefusal = error;
  const reason = passedOn.find((known) => problems[known].word === more.reason && problems[known].status === status);
  const errors = violationsOf(more.errors);
  const { retryAfterSeconds } = more;
  const isRetryable = typeof retryAfterSeconds === 'number' && Number.isFinite(retryAfterSeconds);
  if (
    reason === undefined ||
    errors === undefined ||
    typeof message !== 'string' ||
    !(retryAfterSeconds === undefined || isRetryable)
  )
    return undefined;
  return problem(reason, message, {
    ...(errors.length === 0 ? {} : { violations: errors }),
    ...(isRetryable ? { retryAfterSeconds } : {}),
  });
}

function violationsOf(raw: unknown): readonly Violation[] | undefined {
  return Array.isArray(raw) && raw.every(isViolation)
    ? raw.map(({ pointer, detail }) => ({ pointer, detail }))
    : undefined;
}

function isViolation(raw: unknown): raw is Violation {
  return isObject(raw) && typeof raw['pointer'] === 'string' && typeof raw['detail'] === 'string';
}

const bodyless = new Set([204, 205, 304]);

function isFinalStatus(code: unknown): code is number {
  return typeof code === 'number' && Number.isInteger(code) && code >= 200 && code <= 599;
}

/** Returns the headers by lower-case name, or a problem as a string. */
function headersOf(raw: unknown): Map<string, string> | string {
  if (!isObject(raw)) return 'the headers are not an object';
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(raw)) {
    const lower = name.toLowerCase();
    if (typeof value !== 'string') return `the header ${describe(name)} is not a string`;
    if (platformHeaders.has(lower)) return `the header ${describe(name)} is reserved for the server`;
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return `the header ${describe(name)} is malformed`;
    }
    headers.set(lower, value);
  }
  return headers;
}

/**
 * Returns the bytes of the body, undefined without a body, or a problem as a string. If the headers have a content
 * type, text and bytes are sent unchanged. Any other body is encoded as JSON. Sets a missing content type to JSON.
 */
function bytesOf(body: unknown, headers: Map<string, string>): Uint8Array | undefined | string {
  if (body === undefined) return undefined;
  if (headers.has('content-type')) {
    if (typeof body === 'string') return Buffer.from(body);
    if (body instanceof Uint8Array) return body;
  } else {
    headers.set('content-type', 'application/json');
  }
  try {
    const text: unknown = JSON.stringify(body);
    return typeof text === 'string' ? Buffer.from(text) : `the body is not JSON, but ${typeof body}`;
  } catch (error) {
    return `the body is not JSON: ${thrownMessage(error)}`;
  }
}

function describe(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value).slice(0, 64) : typeof value;
}
