import { isList, isObject } from '../base/guards.ts';
import { ClientError, type ClientErrorMembers, type PluginObject } from '../plugin/api/plugin.ts';

export type ListPage<T = PluginObject> = {
  readonly items: readonly T[];
  readonly total: number;
  /** The position of the whole list. A watch from this position yields all later changes. */
  readonly resourceVersion: string;
  /** The token of the next page; undefined on the last page. */
  readonly continue: string | undefined;
};

export type Frame<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEnd: boolean };

/** The response is not a valid watch stream, for example because a proxy changed it. */
export class MalformedWatchError extends Error {
  override readonly name = 'MalformedWatchError';
}

const initialEnd = 'k8s.io/initial-events-end';

/** Decodes an object. The object is not checked against the TypeScript type that the caller chooses. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the type
export function decodeObject<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** Returns the metadata, which every object of the API has. */
export function metadataOf(object: unknown): PluginObject['metadata'] {
  return (object as PluginObject).metadata;
}

export function decodeList<T>(text: string): ListPage<T> {
  const { items, total, metadata } = JSON.parse(text) as {
    readonly items: readonly T[];
    readonly total?: number;
    readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  };
  // A list without a next page has an empty token or no token.
  const token = metadata.continue === '' ? undefined : metadata.continue;
  return { items, total: total ?? items.length, resourceVersion: metadata.resourceVersion, continue: token };
}

/**
 * Decodes a line of a watch.
 *
 * @throws ClientError for an ERROR event.
 */
export function decodeFrame<T>(line: string): Frame<T> {
  const frame = parsedFrame(line);
  const { type, object } = frame;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      // Returns the parsed value itself, because copies of 100,000 objects would cause long garbage collections.
      return frame as Frame<T>;
    case 'BOOKMARK': {
      const { metadata } = object as PluginObject;
      return {
        type,
        resourceVersion: metadata.resourceVersion,
        isInitialEnd: metadata.annotations?.[initialEnd] === 'true',
      };
    }
    case 'ERROR': {
      const { code } = object;
      throw refusalOf(object, typeof code === 'number' ? code : 500, undefined);
    }
    default:
      throw new MalformedWatchError(`an event of the watch has the unknown type ${JSON.stringify(type)}`);
  }
}

type ParsedFrame = {
  readonly type: unknown;
  readonly object: Readonly<Record<string, unknown>>;
};

function parsedFrame(line: string): ParsedFrame {
  let frame: unknown;
  try {
    frame = JSON.parse(line);
  } catch {
    throw new MalformedWatchError('a line of the watch is not JSON');
  }
  if (!isObject(frame) || !isObject(frame['object']))
    throw new MalformedWatchError('a line of the watch is not an event with an object');
  const { type, object } = frame;
  if (type !== 'ERROR' && (!isObject(object['metadata']) || typeof object['metadata']['resourceVersion'] !== 'string'))
    throw new MalformedWatchError('an object of the watch has no metadata.resourceVersion');
  return frame as ParsedFrame;
}

type AnswerHead = {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly now: number;
};

/**
 * Decodes a refusal. `retryAfter` is the value of the header Retry-After: seconds, a date, or null without the header.
 * `now` is in milliseconds since the epoch.
 */
export function decodeRefusal(text: string, { status, retryAfter, now }: AnswerHead): ClientError {
  const body = objectIn(text) ?? { message: text.slice(0, 1_000) };
  return refusalOf(body, status, retryAfter === null ? undefined : secondsOf(retryAfter, now));
}

/**
 * Whether a 404 means that the object of this name does not exist. Other 404s mean an unknown path, or come from a
 * proxy.
 */
export function isAboutObject(text: string, name: string): boolean {
  const message = objectIn(text)?.['message'];
  return typeof message === 'string' && message.replace(/ at position \d+$/u, '').endsWith(`"${name}" not found`);
}

/** Whether a refusal says that the request had no effect, also not later. */
export function isUnwritten(text: string): boolean {
  const details = objectIn(text)?.['details'];
  const causes = isObject(details) ? details['causes'] : undefined;
  return isList(causes) && causes.some((cause) => isObject(cause) && cause['reason'] === 'NothingWritten');
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function refusalOf(
  { detail, message = detail, reason = 'Unknown', errors, details }: Readonly<Record<string, unknown>>,
  status: number,
  retryAfterSeconds: number | undefined,
): ClientError {
  const declared = isObject(details) ? details['retryAfterSeconds'] : undefined;
  const seconds = retryAfterSeconds ?? (typeof declared === 'number' ? declared : undefined);
  return new ClientError(typeof message === 'string' && message !== '' ? message : `HTTP status ${String(status)}`, {
    reason: String(reason),
    status,
    ...(isList(errors) ? { errors: errors as NonNullable<ClientErrorMembers['errors']> } : {}),
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
  });
}

function secondsOf(retryAfter: string, now: number): number | undefined {
  const seconds = /^\s*\d+\s*$/u.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - now) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
