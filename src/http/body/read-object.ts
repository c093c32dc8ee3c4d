import { refusal, takenOver, type Answer } from '../answer.ts';
import { decodeObject, type JsonMembers } from '../resources/decode-write.ts';
import type { Exchange } from '../exchange.ts';
import { mediaTypeOf, readJson, type Body } from './read-body.ts';

/** The body as a JSON object, or the refusal. */
export async function readObject(
  exchange: Exchange,
): Promise<{ readonly ok: true; readonly value: JsonMembers } | { readonly ok: false; readonly answer: Answer }> {
  const media = mediaTypeOf(exchange.req, ['application/json']);
  if (!media.ok) return { ok: false, answer: refusal(media.problem) };
  const body = await readJson(exchange);
  if (!body.ok) return { ok: false, answer: unread(body) };
  const object = decodeObject(body.value);
  return object.ok ? object : { ok: false, answer: refusal(object.problem) };
}

export function unread(body: Exclude<Body<unknown>, { ok: true }>): Answer {
  return body.problem === undefined ? takenOver : refusal(body.problem);
}
