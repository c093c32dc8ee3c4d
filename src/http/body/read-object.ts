import { refusal, takenOver, type Answer } from '../answer.ts';
import { decodeObject, type JsonMembers } from '../resources/decode-write.ts';
import type { Exchange } from '../exchange.ts';
import { protobufType, type KubernetesMessage } from './kubernetes-message.ts';
import { mediaTypeOf, readJson, readMessage, type Body } from './read-body.ts';

type ReadObject = { readonly ok: true; readonly value: JsonMembers } | { readonly ok: false; readonly answer: Answer };

/** The body as a JSON object, or the refusal. `message`: its form in protobuf, where protobuf is accepted as well. */
export async function readObject(exchange: Exchange, message?: KubernetesMessage): Promise<ReadObject> {
  const accepted = message === undefined ? ['application/json'] : ['application/json', protobufType];
  const media = mediaTypeOf(exchange.req, accepted);
  if (!media.ok) return { ok: false, answer: refusal(media.problem) };
  const body =
    message !== undefined && media.type === protobufType
      ? await readMessage(exchange, message)
      : await readJson(exchange);
  if (!body.ok) return { ok: false, answer: unread(body) };
  const object = decodeObject(body.value);
  return object.ok ? object : { ok: false, answer: refusal(object.problem) };
}

export function unread(body: Exclude<Body<unknown>, { ok: true }>): Answer {
  return body.problem === undefined ? takenOver : refusal(body.problem);
}
