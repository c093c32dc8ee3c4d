import type { Authorize } from '../../auth/authorization/authorize.ts';
import type { Subject } from '../../command/subject.ts';
import { replayRetryAfterSeconds } from '../../limits/replay.ts';
import type { Moment, Replayer, ReplayRefusal, Selected } from '../../read/replay.ts';
import { timestampMs } from '../../resource/type/index-key.ts';
import { resourceRequest } from '../../resource/query/request-path.ts';
import { refusal, type Answer } from '../answer.ts';
import { readObject } from '../body/read-object.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem, type Problem } from '../problem.ts';
import type { Decoded } from '../resources/decode-list-query.ts';
import type { JsonMembers } from '../resources/decode-write.ts';
import { platformApiVersion } from './platform-type.ts';

export type ReplayRoutesDependencies = {
  readonly domain: string;
  readonly authorize: Authorize;
  readonly replayer: Replayer;
  /** Whether this node knows the type, or has objects of it. */
  readonly isKnownType: (type: string) => boolean;
};

/**
 * Replays (docs/audit.md): the answer is a stream of JSON lines, and a client that leaves ends the replay. Starting one
 * is granted as `create` of `replays`; objects are shown of types whose history the caller may `get`.
 */
export function replayRoutes(dependencies: ReplayRoutesDependencies): readonly PlatformRoute[] {
  const group = `audit.${dependencies.domain}`;
  return [
    {
      method: 'POST',
      path: `/apis/${group}/${platformApiVersion}/replays`,
      resource: {
        group,
        version: platformApiVersion,
        plural: 'replays',
        singular: 'replay',
        kind: 'Replay',
        verbs: ['create'],
        subresources: [],
      },
      route: async (_params, exchange) => replay(exchange, dependencies),
    },
  ];
}

async function replay(exchange: Exchange, dependencies: ReplayRoutesDependencies): Promise<Answer> {
  const body = await readObject(exchange);
  if (!body.ok) return body.answer;
  const wish = decodeWish(body.value);
  if (!wish.ok) return refusal(wish.problem);
  const { until, print } = wish.value;
  const mayRead = readable(exchange.subject, dependencies.authorize);
  const type = print?.type;
  if (type !== undefined && !mayRead(type))
    return refusal(problem('forbidden', `the history of ${type} is forbidden: it needs get on ${type}/history`));
  if (type !== undefined && !dependencies.isKnownType(type))
    return refusal(problem('not-found', `no type ${JSON.stringify(type)} is known here, and no object of it exists`));
  const started = await dependencies.replayer.start({ until, print, mayRead, signal: disconnectSignalOf(exchange.res) });
  return started.ok
    ? { kind: 'stream', chunks: started.lines, contentType: 'application/jsonl' }
    : refusal(problemOfRefusal(started));
}

function problemOfRefusal({ reason, detail }: ReplayRefusal): Problem {
  const isPassing = reason === 'unavailable' || reason === 'too-many-requests';
  return problem(reason, detail, isPassing ? { retryAfterSeconds: replayRetryAfterSeconds } : {});
}

/** The right to read the past of all objects of a type. */
function readable(subject: Subject, authorize: Authorize): (type: string) => boolean {
  return (type) => {
    const dot = type.indexOf('.');
    const [resource, group] = dot === -1 ? [type, ''] : [type.slice(0, dot), type.slice(dot + 1)];
    const place = { group, version: platformApiVersion, resource, subresource: 'history' };
    return authorize(subject, resourceRequest('get', place)).allowed;
  };
}

type Wish = { readonly until: Moment | undefined; readonly print: Selected | undefined };

const wishMembers = ['until', 'print', 'type', 'name'];

function decodeWish(body: JsonMembers): Decoded<Wish> {
  const unknown = Object.keys(body).find((member) => !wishMembers.includes(member));
  if (unknown !== undefined) return refused(`the member ${JSON.stringify(unknown)} is not known`);
  const { until, print = false, type, name } = body;
  if (typeof print !== 'boolean') return refused('print must be true or false');
  for (const [member, value] of Object.entries({ until, type, name }))
    if (value !== undefined && typeof value !== 'string') return refused(`${member} must be a text`);
  const moment = until === undefined ? undefined : momentOf(String(until));
  if (until !== undefined && moment === undefined)
    return refused('until must be a position of the log, or a time (RFC 3339)');
  if (!print && (type !== undefined || name !== undefined)) return refused('type and name select what print shows');
  if (name !== undefined && type === undefined) return refused('name needs type: names are those of one type');
  const selected = { type: textOf(type), name: textOf(name) };
  return { ok: true, value: { until: moment, print: print ? selected : undefined } };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Undefined for a text that is neither a position nor a time. */
function momentOf(text: string): Moment | undefined {
  if (/^\d{1,40}$/u.test(text)) return { kind: 'position', position: BigInt(text) };
  const timeMs = timestampMs(text);
  return timeMs === undefined ? undefined : { kind: 'time', timeMs };
}

function refused(detail: string): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem: problem('bad-request', detail) };
}
