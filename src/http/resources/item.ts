import { staleness } from './await-position.ts';
import type { Command, WriteContext, WriteOutcome } from '../../command/command.ts';
import { notFound } from '../../command/refuse.ts';
import { confirmExists } from '../../write/confirm-exists.ts';
import type { Execute } from '../../write/execute.ts';
import type { ObjectReader, StoredObject } from '../../read/objects.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { versionedAnswer } from '../../resource/type/versions/shown-version.ts';
import { bytesAnswer, refusal, type Answer } from '../answer.ts';
import { etagOf, isKnown, isTagKnown, checkConditions } from './conditional-requests.ts';
import { decodeFreshness, type Decoded } from './decode-list-query.ts';
import {
  decodeDeleteOptions,
  decodePatch,
  partOf,
  patchTypes,
  preconditionsOf,
  writeContext,
  type DeleteOptions,
} from './decode-write.ts';
import type { Exchange } from '../exchange.ts';
import { jsonType } from '../body/media-types.ts';
import type { Representation } from '../representation/representation.ts';
import { requestedForm } from '../representation/requested-form.ts';
import { problem, problemOf, warningHeaders } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import { deleteOptionsMessage } from '../body/kubernetes-message.ts';
import { mediaTypeOf, readJson } from '../body/read-body.ts';
import { readObject, readOptionalObject, unread } from '../body/read-object.ts';

export type ResourceReader = Pick<
  ObjectReader,
  'get' | 'list' | 'names' | 'position' | 'isKnown' | 'contains' | 'snapshots'
>;

export type ResourcePorts = {
  readonly reader: ResourceReader;
  readonly execute: Execute;
};

export type ItemTarget = {
  readonly type: ResourceType;
  readonly name: string;
};

export function getItem(exchange: Exchange, target: ItemTarget, { reader }: ResourcePorts): Answer | Promise<Answer> {
  if (exchange.rawQuery === '') return answerItem(exchange, target, reader);
  const misnamed = checkParameterNames(exchange.query);
  if (misnamed !== undefined) return refusal(misnamed);
  if (!exchange.query.has('resourceVersion')) return answerItem(exchange, target, reader);
  return getFreshItem(exchange, target, reader);
}

async function getFreshItem(exchange: Exchange, target: ItemTarget, reader: ResourceReader): Promise<Answer> {
  const freshness = decodeFreshness(exchange.query);
  if (!freshness.ok) return refusal(freshness.problem);
  const stale = await staleness(freshness.value, exchange, reader);
  return stale ?? answerItem(exchange, target, reader);
}

function answerItem(exchange: Exchange, { type, name }: ItemTarget, reader: ResourceReader): Answer {
  const requested = requestedForm(exchange, type);
  if (!requested.ok) return refusal(requested.problem);
  const stored = reader.get(type.key, name);
  if (stored === undefined) return refusal(problem('not-found', notFound(type, name)));
  const { bytes, revision } = stored;
  return answerStored(exchange, { bytes: versionedAnswer(bytes, type), revision, type }, requested.form);
}

/** The object of a response. `type` is undefined if the type is not registered. */
type Shown = Pick<StoredObject, 'bytes' | 'revision'> & { readonly type: ResourceType | undefined };

/** Returns the response to a GET of an object. `form` is undefined for the plain object. */
export function answerStored(exchange: Exchange, stored: Shown, form: Representation | undefined): Answer {
  if (form !== undefined) return inForm(exchange, stored, form);
  const { req } = exchange;
  const { bytes, revision, type } = stored;
  const tag = type && etagOf(revision, type);
  const headers = tag === undefined ? [] : ['ETag', tag];
  const failed = checkConditions(req, stored.revision);
  if (failed !== undefined) return refusal(failed);
  if (tag !== undefined && isTagKnown(req, tag)) return { kind: 'empty', status: 304, headers };
  return bytesAnswer(bytes, 200, headers);
}

/**
 * Returns the response to a read in another form, without an entity tag and never as a 304. An entity tag identifies
 * the bytes of the plain object.
 */
function inForm(
  { req, clock }: Exchange,
  { bytes, revision }: Pick<StoredObject, 'bytes' | 'revision'>,
  form: Representation,
): Answer {
  const failed = checkConditions(req, revision);
  return failed === undefined ? bytesAnswer(form.object(bytes, clock.now())) : refusal(failed);
}

export async function putItem(exchange: Exchange, target: ItemTarget, ports: ResourcePorts): Promise<Answer> {
  const absent = await refuseAbsent(exchange, target, ports);
  if (absent !== undefined) return absent;
  const object = await readObject(exchange);
  if (!object.ok) return object.answer;
  return write(exchange, target, ports, {
    type: 'replace',
    name: target.name,
    object: object.value,
    part: partOf(exchange),
    preconditions: preconditionsOf(exchange),
  });
}

export async function patchItem(exchange: Exchange, target: ItemTarget, ports: ResourcePorts): Promise<Answer> {
  const absent = await refuseAbsent(exchange, target, ports);
  if (absent !== undefined) return absent;
  const media = mediaTypeOf(exchange.req, patchTypes);
  if (!media.ok || media.type === jsonType) {
    const detail = media.ok ? `the Content-Type of a patch must be ${patchTypes.join(' or ')}` : media.problem.detail;
    return refusal(problem('unsupported-media-type', detail, { headers: ['Accept-Patch', patchTypes.join(', ')] }));
  }
  const body = await readJson(exchange);
  if (!body.ok) return unread(body);
  const patch = decodePatch(media.type, body.value);
  if (!patch.ok) return refusal(patch.problem);
  return write(exchange, target, ports, {
    type: 'patch',
    name: target.name,
    patch: patch.value,
    part: partOf(exchange),
    preconditions: preconditionsOf(exchange),
  });
}

export async function deleteItem(exchange: Exchange, target: ItemTarget, ports: ResourcePorts): Promise<Answer> {
  const absent = await refuseAbsent(exchange, target, ports);
  if (absent !== undefined) return absent;
  const options = await readDeleteOptions(exchange);
  if (!options.ok) return options.answer;
  const { dryRun, preconditions, propagation } = options.value;
  const context = writeContext(exchange);
  if (!context.ok) return refusal(context.problem);
  const command: Command = {
    type: 'delete',
    name: target.name,
    preconditions: { ...preconditions, ...preconditionsOf(exchange) },
    propagation,
  };
  const outcome = await ports.execute(target.type, command, {
    ...context.value,
    dryRun: dryRun || context.value.dryRun,
  });
  return written(outcome, target);
}

export async function readDeleteOptions(
  exchange: Exchange,
): Promise<{ readonly ok: true; readonly value: DeleteOptions } | { readonly ok: false; readonly answer: Answer }> {
  const body = await readOptionalObject(exchange, deleteOptionsMessage);
  if (!body.ok) return body;
  const options = decodeDeleteOptions(body.value, exchange.query);
  return options.ok ? options : { ok: false, answer: refusal(options.problem) };
}

async function write(exchange: Exchange, target: ItemTarget, ports: ResourcePorts, command: Command): Promise<Answer> {
  const context: Decoded<WriteContext> = writeContext(exchange);
  if (!context.ok) return refusal(context.problem);
  return written(await ports.execute(target.type, command, context.value), target);
}

export function written(
  outcome: WriteOutcome,
  { type, name }: { readonly type: ResourceType; readonly name?: string },
): Answer {
  if (!outcome.ok)
    return refusal(problemOf(outcome.rejection, { kind: type.kind, ...(name === undefined ? {} : { name }) }));
  return bytesAnswer(outcome.bytes, 200, writtenHeaders(outcome, type));
}

export function writtenHeaders(
  { version, warnings }: Extract<WriteOutcome, { ok: true }>,
  type: ResourceType,
): readonly string[] {
  const etag = ['ETag', etagOf(version, type)];
  return warnings.length === 0 ? etag : [...etag, ...warningHeaders(warnings)];
}

/**
 * Refuses a request for a missing object, or for an object that `If-None-Match` excludes, before the body is read. The
 * write path confirms a missing object, because another node may have created the object.
 */
export async function refuseAbsent(
  exchange: Exchange,
  target: ItemTarget,
  { reader, execute }: ResourcePorts,
): Promise<Answer | undefined> {
  const stored = reader.get(target.type.key, target.name);
  if (stored !== undefined) {
    return isKnown(exchange.req, stored.revision)
      ? refusal(problem('precondition-failed', `If-None-Match contains the current version ${String(stored.revision)}`))
      : undefined;
  }
  const context = writeContext(exchange);
  if (!context.ok) return refusal(context.problem);
  const found = await confirmExists(execute, target, context.value);
  return found.ok ? undefined : written(found, target);
}
