import type { Authorize } from '../../../auth/authorization/authorize.ts';
import type { Command } from '../../../command/command.ts';
import { restoredObject } from '../../../command/restored.ts';
import { resourceRequest } from '../../../resource/query/request-path.ts';
import { storedObject } from '../../../resource/object/shown-object.ts';
import type { ResourceObject } from '../../../resource/object/object.ts';
import type { ResourceType } from '../../../resource/type/resource-type.ts';
import { pastAnswer } from '../../../resource/type/versions/shown-version.ts';
import { bytesAnswer, refusal, type Answer } from '../../answer.ts';
import { readBody } from '../../body/read-body.ts';
import { unread } from '../../body/read-object.ts';
import type { Exchange } from '../../exchange.ts';
import { problem } from '../../problem.ts';
import { ifMatchOf } from '../conditional-requests.ts';
import { preconditionsOf, writeContext } from '../decode-write.ts';
import { written, writtenHeaders, type ItemTarget, type ResourcePorts } from '../item.ts';
import { findPast, type PastPorts } from './past.ts';

export type RestorePorts = ResourcePorts & {
  readonly past: PastPorts;
  readonly authorize: Authorize;
};

/**
 * Handles POST of `/{name}/restore?at=`: writes an earlier state as a new version, or creates a deleted object again.
 * Restores the labels, the annotations, and all members except `metadata` and `status`.
 *
 * The request requires the right `create` on the subresource, and also `update` or `create` on the object.
 */
export async function restoreItem(exchange: Exchange, target: ItemTarget, ports: RestorePorts): Promise<Answer> {
  const context = writeContext(exchange, { hasPast: true });
  if (!context.ok) return refusal(context.problem);
  if (!exchange.query.has('at'))
    return refusal(problem('bad-request', 'at is required: the position or time of the state to restore'));
  const body = await refuseBody(exchange);
  if (body !== undefined) return body;
  const { type, name } = target;
  const isGone = ports.reader.get(type.key, name) === undefined;
  const refused = refuseWrite(exchange, target, { isGone, authorize: ports.authorize });
  if (refused !== undefined) return refused;
  const found = await findPast(exchange, { ...type, name }, ports.past);
  if (!found.ok) return found.answer;
  const past = inVersion(found.object.bytes, isGone ? type : (type.preferred ?? type));
  if (!past.ok) return past.answer;
  const command = commandOf(exchange, target, { past: past.object, isGone });
  const cause = {
    ...context.value.cause,
    verb: 'restore',
    restoredFrom: found.position.toString(),
  };
  const outcome = await ports.execute(type, command, { ...context.value, cause });
  return outcome.ok && isGone
    ? bytesAnswer(outcome.bytes, 201, ['Location', `${type.path}/${outcome.name}`, ...writtenHeaders(outcome, type)])
    : written(outcome, target);
}

async function refuseBody(exchange: Exchange): Promise<Answer | undefined> {
  const body = await readBody(exchange);
  if (!body.ok) return unread(body);
  return body.value.length === 0
    ? undefined
    : refusal(problem('bad-request', 'a restore must have no request body: the parameter at selects the state'));
}

/** Returns the earlier state in the version of `type`. Refuses a state that cannot be converted. */
function inVersion(
  bytes: Uint8Array,
  type: ResourceType,
): { readonly ok: true; readonly object: ResourceObject } | { readonly ok: false; readonly answer: Answer } {
  const object = storedObject(pastAnswer(bytes, type));
  if (object.apiVersion === type.apiVersion) return { ok: true, object };
  const detail = `the state has the version ${object.apiVersion}, which cannot be converted`;
  return { ok: false, answer: refusal(problem('invalid', detail)) };
}

type RestoredState = {
  readonly past: ResourceObject;
  readonly isGone: boolean;
};

function commandOf(exchange: Exchange, { type, name }: ItemTarget, { past, isGone }: RestoredState): Command {
  return isGone
    ? { type: 'create', object: restoredObject(past, type) }
    : { type: 'restore', name, past, preconditions: preconditionsOf(exchange) };
}

type Wanted = Pick<RestorePorts, 'authorize'> & { readonly isGone: boolean };

function refuseWrite(exchange: Exchange, target: ItemTarget, wanted: Wanted): Answer | undefined {
  const { isGone } = wanted;
  if (!mayWrite(exchange, target, wanted))
    return refusal(
      problem('forbidden', `this restore also requires the right to ${isGone ? 'create' : 'update'} the object`),
    );
  return isGone && ifMatchOf(exchange.req) !== undefined
    ? refusal(problem('precondition-failed', 'If-Match: there is no object with this name'))
    : undefined;
}

function mayWrite(
  { subject }: Exchange,
  { type: { group, version, plural }, name }: ItemTarget,
  { isGone, authorize }: Wanted,
): boolean {
  const place = { group, version, resource: plural };
  const request = isGone ? resourceRequest('create', place) : resourceRequest('update', { ...place, name });
  return authorize(subject, request).allowed;
}
