import type { Rejection, RejectionReason } from '../command/rejection.ts';
import type { Violation } from '../resource/type/resource-type.ts';

/** The reasons of refusals by the HTTP layer, in addition to the reasons of rejected commands. */
type EdgeReason =
  | 'unauthorized'
  | 'method-not-allowed'
  | 'body-too-large'
  | 'headers-too-large'
  | 'unsupported-media-type'
  | 'expired'
  | 'expectation-failed'
  | 'request-timeout'
  | 'internal-error'
  | 'timeout';

/** The result of a decoder that refuses its request. */
export type ProblemResult = {
  readonly ok: false;
  readonly problem: Problem;
};

export type ProblemReason = RejectionReason | EdgeReason;

/** The status, fixed reason and title of every refusal. No other code assigns a status to a refusal. */
export const problems = {
  'bad-request': { status: 400, word: 'BadRequest', title: 'The request is malformed' },
  unauthorized: { status: 401, word: 'Unauthorized', title: 'Valid credentials are required' },
  forbidden: { status: 403, word: 'Forbidden', title: 'Not allowed' },
  'not-found': { status: 404, word: 'NotFound', title: 'Not found' },
  'method-not-allowed': { status: 405, word: 'MethodNotAllowed', title: 'This path does not serve the method' },
  'request-timeout': { status: 408, word: 'RequestTimeout', title: 'The request took too long to arrive' },
  'already-exists': { status: 409, word: 'AlreadyExists', title: 'An object with this name exists' },
  'stale-version': { status: 409, word: 'Conflict', title: 'The object has been modified' },
  'unique-value-taken': { status: 409, word: 'UniqueValueTaken', title: 'Another object has this unique value' },
  referenced: { status: 409, word: 'ObjectReferenced', title: 'Other objects name this object' },
  expired: { status: 410, word: 'Expired', title: 'This log position is not available' },
  'precondition-failed': { status: 412, word: 'PreconditionFailed', title: 'A precondition failed' },
  'body-too-large': { status: 413, word: 'RequestEntityTooLarge', title: 'The body is too large' },
  'unsupported-media-type': { status: 415, word: 'UnsupportedMediaType', title: 'The media type is not supported' },
  'expectation-failed': { status: 417, word: 'ExpectationFailed', title: 'The expectation cannot be met' },
  invalid: { status: 422, word: 'Invalid', title: 'The object is invalid' },
  'too-many-requests': { status: 429, word: 'TooManyRequests', title: 'Too many requests' },
  'headers-too-large': { status: 431, word: 'RequestHeaderFieldsTooLarge', title: 'The headers are too large' },
  'internal-error': { status: 500, word: 'InternalError', title: 'Internal error' },
  unavailable: { status: 503, word: 'ServiceUnavailable', title: 'Not available now' },
  timeout: { status: 504, word: 'Timeout', title: 'Timeout' },
  'insufficient-storage': { status: 507, word: 'InsufficientStorage', title: 'The disk is nearly full' },
} as const satisfies Record<ProblemReason, { readonly status: number; readonly word: string; readonly title: string }>;

/** A refusal, independent of the format of the response. */
export type Problem = {
  readonly reason: ProblemReason;
  readonly detail: string;
  readonly violations?: readonly Violation[];
  /** The `field` to report for a violation with an empty pointer; `object` if absent. */
  readonly root?: 'patch';
  /** Machine-readable causes, as in Kubernetes, in addition to the violations. */
  readonly causes?: readonly { readonly reason: string; readonly message: string }[];
  /** The kind of an invalid object, or the name in a body. */
  readonly about?: { readonly kind?: string; readonly name?: string };
  readonly retryAfterSeconds?: number;
  /** Additional headers: alternating names and values. */
  readonly headers?: readonly string[];
};

export function problem(reason: ProblemReason, detail: string, more: Omit<Problem, 'reason' | 'detail'> = {}): Problem {
  return { reason, detail, ...more };
}

export function problemOf(rejection: Rejection, about: Problem['about'] = {}): Problem {
  const { warnings = [], ...refused } = rejection;
  const isUnwritten = refused.reason === 'unavailable' && refused.isUnwritten === true;
  return {
    ...refused,
    ...(isUnwritten ? nothingWritten : {}),
    about,
    ...(warnings.length === 0 ? {} : { headers: warningHeaders(warnings) }),
  };
}

/** The cause in a 503 which says that the request has had no effect, and will have none. */
export const nothingWritten: Pick<Problem, 'causes'> = {
  causes: [{ reason: 'NothingWritten', message: 'the request had no effect, and can be repeated' }],
};

/**
 * Returns one header `Warning: 299 - "text"` for each warning, as alternating names and values. Replaces characters
 * other than printable ASCII, which some readers do not accept.
 */
export function warningHeaders(warnings: readonly string[]): readonly string[] {
  return warnings.flatMap((text) => [
    'Warning',
    `299 - "${text.replaceAll(/[^\x20-\x7e]/gu, '?').replaceAll(/["\\]/gu, '\\$&')}"`,
  ]);
}

export function methodNotAllowed(method: string, allowed: readonly string[]): Problem {
  const list = allowed.join(', ');
  // The response to a HEAD has the headers of the response to a GET, including the length (RFC 9110, 9.3.2).
  const named = method === 'HEAD' ? 'GET' : method;
  return problem(
    'method-not-allowed',
    `this path does not support ${named}${list === '' ? '' : `; allowed: ${list}`}`,
    {
      headers: ['Allow', list],
    },
  );
}

/** A browser shows a log-in dialog for this challenge. */
export const basicChallenge = 'Basic realm="ledgerplane", charset="UTF-8"';
/** The challenge for pages with a log-in form: after a failed log-in, and for an ended session. */
export const logInChallenge = 'Cookie realm="ledgerplane", form-action="/login", cookie-name="ledgerplane_session"';
