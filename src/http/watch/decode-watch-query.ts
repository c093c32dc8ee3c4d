import { watchTimeoutSecondsMax } from '../../limits/watches.ts';
import { logPosition, type LogPosition } from '../../log/log.ts';
import { clientOf } from '../../read/client.ts';
import type { WatchPlan, WatchStart } from '../../watch/watch-plan.ts';
import { decodeSelection, isPosition, shown, unsupported, type Decoded } from '../resources/decode-list-query.ts';
import { problem } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import type { WatchRequest } from './watching.ts';

/** Decodes the parameters of a watch. `resumed` is the `Last-Event-ID` header of a request for server-sent events. */
export function decodeWatchQuery(request: WatchRequest, resumed: string | undefined): Decoded<WatchPlan> {
  const { query, type, name, subject, address } = request;
  const misnamed = checkParameterNames(query, { isWatch: true });
  if (misnamed !== undefined) return { ok: false, problem: misnamed };
  const selection = decodeSelection(query, type);
  if (!selection.ok) return selection;
  const start = decodeStart(query, resumed);
  if (!start.ok) return start;
  const bookmarks = decodeFlag(query, 'allowWatchBookmarks');
  if (!bookmarks.ok) return bookmarks;
  const timeoutMs = decodeTimeout(query);
  if (!timeoutMs.ok) return timeoutMs;
  const client = clientOf(subject, address);
  const asked = {
    selection: selection.value,
    start: start.value,
    bookmarks: bookmarks.value === true,
    timeoutMs: timeoutMs.value,
  };
  return { ok: true, value: { type, name, subject, client, ...asked } };
}

function decodeStart(query: URLSearchParams, resumed: string | undefined): Decoded<WatchStart> {
  const initial = decodeInitial(query);
  if (!initial.ok) return initial;
  // An `EventSource` reconnects with its first URL, so `Last-Event-ID` takes precedence over the URL.
  if (resumed !== undefined && resumed !== '') return decodeResumed(resumed);
  const position = decodePosition(query.get('resourceVersion') ?? '', 'resourceVersion');
  if (!position.ok) return position;
  if (initial.value === true) return { ok: true, value: { kind: 'state', notBefore: position.value, marksEnd: true } };
  if (position.value !== undefined) return { ok: true, value: { kind: 'after', position: position.value } };
  return {
    ok: true,
    value: initial.value === false ? { kind: 'now' } : { kind: 'state', notBefore: undefined, marksEnd: false },
  };
}

/**
 * Decodes `sendInitialEvents`; undefined if the parameter is absent. As in Kubernetes, `sendInitialEvents` requires
 * `resourceVersionMatch`.
 */
function decodeInitial(query: URLSearchParams): Decoded<boolean | undefined> {
  const initial = decodeFlag(query, 'sendInitialEvents');
  if (!initial.ok) return initial;
  const match = query.get('resourceVersionMatch') ?? '';
  if (initial.value === undefined)
    return match === ''
      ? initial
      : unsupportedValue('resourceVersionMatch', 'is supported only for watches with sendInitialEvents');
  return match === 'NotOlderThan'
    ? initial
    : unsupportedValue('resourceVersionMatch', `must be NotOlderThan with sendInitialEvents, is ${shown(match)}`);
}

function decodeResumed(text: string): Decoded<WatchStart> {
  const position = decodePosition(text, 'Last-Event-ID');
  if (!position.ok) return position;
  return {
    ok: true,
    value:
      position.value === undefined
        ? { kind: 'state', notBefore: undefined, marksEnd: false }
        : { kind: 'after', position: position.value },
  };
}

/** Decodes a position; undefined for `0` and for an empty text, which mean any position. */
function decodePosition(text: string, parameter: string): Decoded<LogPosition | undefined> {
  if (text !== '' && !isPosition(text))
    return { ok: false, problem: problem('bad-request', `${parameter}: must be a log position, is ${shown(text)}`) };
  const position = BigInt(text);
  return { ok: true, value: position === 0n ? undefined : logPosition(position) };
}

function decodeFlag(query: URLSearchParams, parameter: string): Decoded<boolean | undefined> {
  const text = query.get(parameter);
  if (text === null) return { ok: true, value: undefined };
  switch (text.toLowerCase()) {
    case 'true':
    case '1':
    case '':
      return { ok: true, value: true };
    case 'false':
    case '0':
      return { ok: true, value: false };
    default:
      return { ok: false, problem: problem('bad-request', `${parameter}: must be true or false, is ${shown(text)}`) };
  }
}

/**
 * Decodes `timeoutSeconds` to milliseconds; undefined if the watch has no timeout. Reduces a timeout above the limit to
 * the limit, because clients reconnect when a watch ends.
 */
function decodeTimeout(query: URLSearchParams): Decoded<number | undefined> {
  const text = query.get('timeoutSeconds') ?? '';
  if (!/^\d{0,16}$/u.test(text))
    return {
      ok: false,
      problem: problem('bad-request', `timeoutSeconds: must be a whole number >= 0, is ${shown(text)}`),
    };
  const seconds = Number(text);
  return { ok: true, value: seconds === 0 ? undefined : Math.min(seconds, watchTimeoutSecondsMax) * 1_000 };
}

function unsupportedValue(parameter: string, detail: string): Decoded<never> {
  return { ok: false, problem: unsupported(parameter, detail) };
}
