import type { Authorize } from '../../auth/authorization/authorize.ts';
import type { Subject } from '../../command/subject.ts';
import { replayRetryAfterSeconds } from '../../limits/replay.ts';
import { decodeDiff, decodeReplay, type DecodedReplay } from '../../read/decode-replay.ts';
import type { Replayer, ReplayRefusal } from '../../read/replay.ts';
import { resourceRequest } from '../../resource/query/request-path.ts';
import { refusal, type Answer } from '../answer.ts';
import { readObject } from '../body/read-object.ts';
import type { ApiResource } from '../discovery/api-catalog.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem, type Problem } from '../problem.ts';
import type { JsonMembers } from '../resources/decode-write.ts';
import { platformApiVersion } from './platform-type.ts';

export type ReplayRoutesDependencies = {
  readonly domain: string;
  readonly authorize: Authorize;
  readonly replayer: Replayer;
  /** Returns whether the type is registered on this node, or has objects. */
  readonly isKnownType: (type: string) => boolean;
};

/**
 * Creates the routes of replays and diffs (docs/audit.md). The routes require the right `create` on `replays` and
 * `diffs`. Objects of a type also require the right `get` on the history of the type.
 *
 * The response is a stream of JSON lines. A disconnect of the client ends the replay.
 */
export function replayRoutes(dependencies: ReplayRoutesDependencies): readonly PlatformRoute[] {
  const group = `audit.${dependencies.domain}`;
  const route = (
    names: Pick<ApiResource, 'plural' | 'singular' | 'kind'>,
    decode: (body: JsonMembers) => DecodedReplay,
  ): PlatformRoute => ({
    method: 'POST',
    path: `/apis/${group}/${platformApiVersion}/${names.plural}`,
    resource: { ...names, group, version: platformApiVersion, verbs: ['create'], subresources: [] },
    route: async (_params, exchange) => replay(exchange, dependencies, decode),
  });
  return [
    route({ plural: 'replays', singular: 'replay', kind: 'Replay' }, decodeReplay),
    route({ plural: 'diffs', singular: 'diff', kind: 'Diff' }, decodeDiff),
  ];
}

async function replay(
  exchange: Exchange,
  { authorize, isKnownType, replayer }: ReplayRoutesDependencies,
  decode: (body: JsonMembers) => DecodedReplay,
): Promise<Answer> {
  const body = await readObject(exchange);
  if (!body.ok) return body.answer;
  const asked = decode(body.value);
  if (!asked.ok) return refusal(problem('bad-request', asked.detail));
  const mayRead = readable(exchange.subject, authorize);
  const type = asked.value.print?.type;
  if (type !== undefined && !mayRead(type))
    return refusal(problem('forbidden', `the history of ${type} is forbidden: it requires get on ${type}/history`));
  if (type !== undefined && !isKnownType(type))
    return refusal(
      problem('not-found', `the type ${JSON.stringify(type)} is unknown, and no object of this type exists`),
    );
  const started = await replayer.start({ ...asked.value, mayRead, signal: disconnectSignalOf(exchange.res) });
  return started.ok
    ? { kind: 'stream', chunks: started.lines, contentType: 'application/jsonl' }
    : refusal(problemOfRefusal(started));
}

function problemOfRefusal({ reason, detail }: ReplayRefusal): Problem {
  const isPassing = reason === 'unavailable' || reason === 'too-many-requests';
  return problem(reason, detail, isPassing ? { retryAfterSeconds: replayRetryAfterSeconds } : {});
}

/** Returns a function that checks whether the subject may read the history of a type's objects. */
function readable(subject: Subject, authorize: Authorize): (type: string) => boolean {
  return (type) => {
    const dot = type.indexOf('.');
    const [resource, group] = dot === -1 ? [type, ''] : [type.slice(0, dot), type.slice(dot + 1)];
    const place = { group, version: platformApiVersion, resource, subresource: 'history' };
    return authorize(subject, resourceRequest('get', place)).allowed;
  };
}
