import type { Json } from '../../base/json.ts';
import { refusal, takenOver, type Answer } from '../answer.ts';
import { decodeObject, type JsonMembers } from '../resources/decode-write.ts';
import type { Exchange } from '../exchange.ts';
import { jsonType, yamlType } from './media-types.ts';
import { bodyBytesMaxOf, decodeFormat } from './body-formats.ts';
import { protobufType, type KubernetesMessage } from './kubernetes-message.ts';
import { mediaTypeOf, readBody, readJson, type Body } from './read-body.ts';

type ReadObject = { readonly ok: true; readonly value: JsonMembers } | { readonly ok: false; readonly answer: Answer };

/** Reads a JSON object from a body in JSON or YAML. With `message`, the body may also be protobuf. */
export async function readObject(exchange: Exchange, message?: KubernetesMessage): Promise<ReadObject> {
  const media = mediaTypeOf(exchange.req, acceptedTypes(message));
  if (!media.ok) return { ok: false, answer: refusal(media.problem) };
  const body = media.type === jsonType ? await readJson(exchange) : await readFormat(exchange, media.type, message);
  if (!body.ok) return { ok: false, answer: unread(body) };
  const object = decodeObject(body.value);
  return object.ok ? object : { ok: false, answer: refusal(object.problem) };
}

/**
 * Like `readObject`, for a body that may be empty. An empty body may have any media type, and is an object without
 * members.
 */
export async function readOptionalObject(exchange: Exchange, message: KubernetesMessage): Promise<ReadObject> {
  const media = mediaTypeOf(exchange.req, acceptedTypes(message));
  const type = media.ok ? media.type : jsonType;
  const body = await readBody(exchange, bodyBytesMaxOf(type));
  if (!body.ok) return { ok: false, answer: unread(body) };
  if (body.value.length === 0) return { ok: true, value: {} };
  if (!media.ok) return { ok: false, answer: refusal(media.problem) };
  const decoded = await decodeFormat({ type, bytes: body.value }, exchange, message);
  if (!decoded.ok) return { ok: false, answer: unread(decoded) };
  const object = decodeObject(decoded.value);
  return object.ok ? object : { ok: false, answer: refusal(object.problem) };
}

export const objectTypes: readonly string[] = [jsonType, yamlType];

function acceptedTypes(message: KubernetesMessage | undefined): readonly string[] {
  return message === undefined ? objectTypes : [...objectTypes, protobufType];
}

async function readFormat(
  exchange: Exchange,
  type: string,
  message: KubernetesMessage | undefined,
): Promise<Body<Json>> {
  const body = await readBody(exchange, bodyBytesMaxOf(type));
  return body.ok ? decodeFormat({ type, bytes: body.value }, exchange, message) : body;
}

export function unread(body: Exclude<Body<unknown>, { ok: true }>): Answer {
  return body.problem === undefined ? takenOver : refusal(body.problem);
}
