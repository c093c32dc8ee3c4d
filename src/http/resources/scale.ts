import { notFound } from '../../command/refuse.ts';
import { scaleBytes } from '../../resource/object/scale.ts';
import type { ScalePointers } from '../../resource/type/resource-type.ts';
import { bytesAnswer, refusal, type Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import { problem } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import { checkConditions, etagOf, isTagKnown } from './conditional-requests.ts';
import { decodeFreshness } from './decode-list-query.ts';
import { staleness } from './await-position.ts';
import { patchItem, putItem, type ItemTarget, type ResourcePorts } from './item.ts';

/**
 * Handles GET, PUT and PATCH of `/{name}/scale`. The response is an `autoscaling/v1` Scale, even if the request asks
 * for a table.
 */
export async function answerScale(
  exchange: Exchange,
  target: ItemTarget,
  ports: ResourcePorts,
  pointers: ScalePointers,
): Promise<Answer> {
  switch (exchange.method) {
    case 'PUT':
      return asScale(await putItem(exchange, target, ports), pointers);
    case 'PATCH':
      return asScale(await patchItem(exchange, target, ports), pointers);
    default:
      return asScale(await readObject(exchange, target, ports), pointers);
  }
}

/** Returns the stored object, a 304, or a refusal. The Scale has the entity tag of the object. */
async function readObject(exchange: Exchange, { type, name }: ItemTarget, { reader }: ResourcePorts): Promise<Answer> {
  const misnamed = checkParameterNames(exchange.query);
  if (misnamed !== undefined) return refusal(misnamed);
  const freshness = decodeFreshness(exchange.query);
  if (!freshness.ok) return refusal(freshness.problem);
  const stale = await staleness(freshness.value, exchange, reader);
  if (stale !== undefined) return stale;
  const stored = reader.get(type.key, name);
  if (stored === undefined) return refusal(problem('not-found', notFound(type, name)));
  const failed = checkConditions(exchange.req, stored.revision);
  if (failed !== undefined) return refusal(failed);
  const tag = etagOf(stored.revision, type);
  const headers = ['ETag', tag];
  if (isTagKnown(exchange.req, tag)) return { kind: 'empty', status: 304, headers };
  return bytesAnswer(stored.bytes, 200, headers);
}

function asScale(answer: Answer, pointers: ScalePointers): Answer {
  return answer.kind === 'bytes' ? { ...answer, bytes: scaleBytes(answer.bytes, pointers) } : answer;
}
