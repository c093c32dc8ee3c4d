import { timestampMs } from '../resource/type/index-key.ts';
import type { Moment, ReplayRequest, Selected } from './replay.ts';

export type AskedReplay = Pick<ReplayRequest, 'from' | 'until' | 'print'>;
export type DecodedReplay =
  { readonly ok: true; readonly value: AskedReplay } | { readonly ok: false; readonly detail: string };

type Body = Readonly<Record<string, unknown>>;

/**
 * Decodes the request of a replay. With `until`, the log is replayed up to this moment; without, the whole log is
 * compared with the read models. `print` requests the objects that `type` and `name` select, or all objects without
 * `type`.
 */
export function decodeReplay(body: Body): DecodedReplay {
  const problem = memberProblem(body, ['until', 'print', 'type', 'name']);
  if (problem !== undefined) return refused(problem);
  const { print = false, type, name } = body;
  if (typeof print !== 'boolean') return refused('"print" must be true or false');
  if (!print && (type !== undefined || name !== undefined)) return refused('"type" and "name" require "print": true');
  const until = momentOf(body['until']);
  if (until === 'invalid') return refused(`"until" ${notAMoment}`);
  return { ok: true, value: { until, print: print ? selectedIn(body) : undefined } };
}

/**
 * Decodes the request of a diff: the changes after `from` up to `to`, of all objects or of the objects that `type` and
 * `name` select.
 */
export function decodeDiff(body: Body): DecodedReplay {
  const problem = memberProblem(body, ['from', 'to', 'type', 'name']);
  if (problem !== undefined) return refused(problem);
  const [from, until] = [momentOf(body['from']), momentOf(body['to'])];
  if (from === undefined || until === undefined) return refused('"from" and "to" are required');
  if (from === 'invalid') return refused(`"from" ${notAMoment}`);
  if (until === 'invalid') return refused(`"to" ${notAMoment}`);
  return { ok: true, value: { from, until, print: selectedIn(body) } };
}

const notAMoment = 'must be a position of the log, or a time (RFC 3339)';

/** Returns the problem of the first invalid member. */
function memberProblem(body: Body, known: readonly string[]): string | undefined {
  for (const [member, value] of Object.entries(body)) {
    if (!known.includes(member)) return `the member ${JSON.stringify(member)} is not known`;
    if (member !== 'print' && typeof value !== 'string') return `"${member}" must be a string`;
  }
  return body['name'] !== undefined && body['type'] === undefined
    ? '"name" requires "type": a name is unique only within its type'
    : undefined;
}

function selectedIn({ type, name }: Body): Selected {
  return { type: textOf(type), name: textOf(name) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Decodes a position or a time. Returns `invalid` for any other text, and undefined for a value that is not a text. */
export function momentOf(text: unknown): Moment | 'invalid' | undefined {
  if (typeof text !== 'string') return undefined;
  if (/^\d{1,40}$/u.test(text)) return { kind: 'position', position: BigInt(text) };
  const timeMs = timestampMs(text);
  return timeMs === undefined ? 'invalid' : { kind: 'time', timeMs };
}

function refused(detail: string): DecodedReplay {
  return { ok: false, detail };
}
