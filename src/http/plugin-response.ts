import { validateHeaderName, validateHeaderValue } from 'node:http';

import type { RejectionReason } from '../command/rejection.ts';
import { ClientError } from '../plugin/plugin.ts';
import type { Violation } from '../resource/resource-type.ts';
import type { Answer } from './answer.ts';
import { problem, problems, type Problem } from './problem.ts';

/** What a plugin's handler answered is its word only: decoded here, or undefined and a reason for the log. */
export type DecodedResponse = { readonly ok: true; readonly answer: Answer } | { readonly ok: false; readonly problem: string };

/** The connection is the platform's. */
const platformHeaders = new Set(['connection', 'content-length', 'date', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade', 'x-request-id']);

export function decodeResponse(result: unknown): DecodedResponse {
  if (result === undefined) return { ok: true, answer: { kind: 'empty', status: 204, headers: [] } };
  if (!isObject(result)) return { ok: false, problem: 'it answered no response object' };
  const { status, headers: rawHeaders = {}, body }: { status?: unknown; headers?: unknown; body?: unknown } = result;
  const headers = headersOf(rawHeaders);
  if (typeof headers === 'string') return { ok: false, problem: headers };
  const bytes = bytesOf(body, headers);
  if (typeof bytes === 'string') return { ok: false, problem: bytes };
  const code = status ?? (bytes === undefined ? 204 : 200);
  if (!isFinalStatus(code)) return { ok: false, problem: `its status is ${describe(code)}` };
  return { ok: true, answer: { kind: 'custom', status: code, headers, bytes: bodyless.has(code) ? undefined : bytes ?? new Uint8Array() } };
}

/** What a client's call can be refused with: a handler that lets such an error pass, or throws one, refuses its caller with it. */
const passing: readonly RejectionReason[] = [
  'bad-request', 'forbidden', 'not-found', 'already-exists', 'stale-version', 'unique-value-taken', 'precondition-failed', 'invalid', 'too-many-requests', 'unavailable',
];

/** Undefined for what is no refusal, or not one in the table's own words: the handler failed. */
export function decodeRefusal(error: unknown): Problem | undefined {
  if (!(error instanceof ClientError)) return undefined;
  const { message, status, ...said }: { message: unknown; status: unknown; reason?: unknown; errors?: unknown; retryAfterSeconds?: unknown } = error;
  const reason = passing.find((known) => problems[known].word === said.reason && problems[known].status === status);
  const errors = violationsOf(said.errors);
  const { retryAfterSeconds } = said;
  const isRetryable = typeof retryAfterSeconds === 'number' && Number.isFinite(retryAfterSeconds);
  if (reason === undefined || errors === undefined || typeof message !== 'string' || !(retryAfterSeconds === undefined || isRetryable)) return undefined;
  return problem(reason, message, { ...(errors.length === 0 ? {} : { violations: errors }), ...(isRetryable ? { retryAfterSeconds } : {}) });
}

function violationsOf(raw: unknown): readonly Violation[] | undefined {
  return Array.isArray(raw) && raw.every(isViolation) ? raw.map(({ pointer, detail }) => ({ pointer, detail })) : undefined;
}

function isViolation(raw: unknown): raw is Violation {
  return isObject(raw) && 'pointer' in raw && typeof raw.pointer === 'string' && 'detail' in raw && typeof raw.detail === 'string';
}

const bodyless = new Set([204, 205, 304]);

function isFinalStatus(code: unknown): code is number {
  return typeof code === 'number' && Number.isInteger(code) && code >= 200 && code <= 599;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** By lower-case name. */
function headersOf(raw: unknown): Map<string, string> | string {
  if (!isObject(raw)) return 'its headers are no object';
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(raw)) {
    const lower = name.toLowerCase();
    if (typeof value !== 'string') return `its header ${describe(name)} is no string`;
    if (platformHeaders.has(lower)) return `its header ${describe(name)} is not its to set`;
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return `its header ${describe(name)} is malformed`;
    }
    headers.set(lower, value);
  }
  return headers;
}

/** JSON, unless the headers name another content type and the body is text or bytes already. */
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
    return typeof text === 'string' ? Buffer.from(text) : `its body is ${describe(typeof body)}`;
  } catch (error) {
    return `its body is not JSON: ${error instanceof Error ? error.message : describe(error)}`;
  }
}

function describe(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value).slice(0, 64) : typeof value;
}
