import type { ResourceType } from '../../resource/type/resource-type.ts';
import { bytesAnswer, refusal, type Answer } from '../answer.ts';
import { headerOf, type Exchange } from '../exchange.ts';
import type { ProblemResult } from '../problem.ts';
import { asObjects, negotiate } from './negotiate.ts';
import type { Representation } from './representation.ts';
import { withoutTag } from './yaml-answers.ts';
import { representationOf } from './representation-of.ts';

/** The form of objects that a request asks for; undefined for plain objects. */
export type RequestedForm = { readonly ok: true; readonly form: Representation | undefined } | ProblemResult;

const asTheyAre: RequestedForm = { ok: true, form: undefined };

export function requestedForm({ req, query }: Exchange, type: ResourceType): RequestedForm {
  const negotiated = negotiate(headerOf(req, 'accept'), query);
  if (negotiated === asObjects) return asTheyAre;
  return negotiated.ok ? { ok: true, form: representationOf(type, negotiated.value) } : negotiated;
}

/**
 * Returns the response to a write, with the object in the requested form. Other forms have no entity tag, because an
 * entity tag identifies the bytes of the plain object.
 */
export function writeInForm(
  exchange: Exchange,
  type: ResourceType,
  write: () => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const requested = requestedForm(exchange, type);
  if (!requested.ok) return refusal(requested.problem);
  const { form } = requested;
  return form === undefined ? write() : formed(write(), form, exchange);
}

async function formed(written: Answer | Promise<Answer>, form: Representation, exchange: Exchange): Promise<Answer> {
  const answer = await written;
  if (answer.kind !== 'bytes') return answer;
  return bytesAnswer(form.object(answer.bytes, exchange.clock.now()), answer.status, withoutTag(answer.headers));
}
