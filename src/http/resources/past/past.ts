import { readEvent, UnreadableHistoryError } from '../../../audit/event-pairs.ts';
import { notFound } from '../../../command/refuse.ts';
import { objectAnswer } from '../../../log/event-codec.ts';
import { streamName, type LogPosition, type StreamRevision } from '../../../log/log.ts';
import type { ResourceType } from '../../../resource/type/resource-type.ts';
import { pastAnswer } from '../../../resource/type/versions/shown-version.ts';
import { refusal, type Answer } from '../../answer.ts';
import type { Exchange } from '../../exchange.ts';
import { problem } from '../../problem.ts';
import { checkParameterNames } from '../../query-names.ts';
import { requestedForm, type RequestedForm } from '../../representation/requested-form.ts';
import type { HistoryPorts, HistoryTarget } from '../history.ts';
import { answerStored } from '../item.ts';
import { resolveMoment, type PastIndexes } from './moment.ts';

export type PastPorts = HistoryPorts & { readonly audit: PastIndexes };

/** The JSON of an object after the event with this revision. */
export type PastObject = {
  readonly revision: StreamRevision;
  readonly bytes: Buffer;
};

/** The object at a moment, with the position of the moment. */
export type FoundPast =
  | { readonly ok: true; readonly object: PastObject; readonly position: LogPosition }
  | { readonly ok: false; readonly answer: Answer };

const asTheyAre: RequestedForm = { ok: true, form: undefined };

type PastLookUp = {
  readonly type: ResourceType | undefined;
  readonly ports: PastPorts;
};

/**
 * Handles GET of `/{name}?at=`: returns the object at a moment, even if the object is deleted now. If the type is no
 * longer registered, `type` is undefined, and the response is the stored JSON.
 */
export async function answerPast(
  exchange: Exchange,
  target: HistoryTarget,
  { type, ports }: PastLookUp,
): Promise<Answer> {
  const misnamed = checkParameterNames(exchange.query, { hasPast: true });
  if (misnamed !== undefined) return refusal(misnamed);
  const requested = type === undefined ? asTheyAre : requestedForm(exchange, type);
  if (!requested.ok) return refusal(requested.problem);
  const found = await findPast(exchange, target, ports);
  if (!found.ok) return found.answer;
  const { bytes, revision } = found.object;
  const shown = type === undefined ? bytes : pastAnswer(bytes, type);
  return answerStored(exchange, { bytes: shown, revision, type }, requested.form);
}

/** Finds the object at the moment in `at`, with one look-up in the version index and one read of the log. */
export async function findPast(exchange: Exchange, target: HistoryTarget, ports: PastPorts): Promise<FoundPast> {
  const moment = await resolveMoment(exchange, ports);
  if (!moment.ok) return moment;
  const { key, name } = target;
  const isKnown = ports.reader.head(key, name).kind !== 'absent';
  const revision = isKnown ? ports.audit.versions.lastAt(key, name, moment.position) : undefined;
  if (revision === undefined) return absent(target, moment.position);
  try {
    const event = await readEvent(ports.log, streamName(`object:${key}/${name}`), revision);
    const bytes = event.type === 'ObjectDeleted' ? undefined : objectAnswer(event, event.position);
    return bytes === undefined
      ? absent(target, moment.position)
      : { ok: true, object: { revision, bytes }, position: moment.position };
  } catch (error) {
    if (!(error instanceof UnreadableHistoryError)) throw error;
    const unreadable = problem('unavailable', 'the event log cannot be read now', { retryAfterSeconds: 1 });
    return { ok: false, answer: refusal(unreadable) };
  }
}

function absent(target: HistoryTarget, position: LogPosition): FoundPast {
  const detail = `${notFound(target, target.name)} at position ${position.toString()}`;
  return { ok: false, answer: refusal(problem('not-found', detail)) };
}
