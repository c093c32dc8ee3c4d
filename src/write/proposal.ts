import type { HeldValue } from '../resource/type/held-values.ts';
import { must } from '../base/unreachable.ts';
import type { Decision } from '../command/decide.ts';
import type { EventMetadata, ObjectEvent } from '../command/event.ts';
import { appendBytesMax, appendOverheadBytes } from '../limits/log.ts';
import { encodeEvent, objectAnswer, type KnownEntry } from '../log/event-codec.ts';
import type { ProposedEvent, RecordedEvent } from '../log/log.ts';

/** An accepted decision with an event. */
export type Made = Extract<Decision, { readonly event: ObjectEvent }>;

/**
 * The contents of one append: the event of the decision, and perhaps the event of the removal. A retry sends the same
 * events.
 */
export type Proposal = { readonly events: readonly [ProposedEvent, ...ProposedEvent[]]; readonly decision: Made };

type Proposing = {
  readonly uuid: () => string;
  readonly metadata: EventMetadata;
  readonly indexed: KnownEntry | undefined;
  readonly appendBytesMax: number | undefined;
};

export function propose(decision: Made, proposing: Proposing): Proposal {
  const { uuid, metadata, indexed, appendBytesMax: most = appendBytesMax } = proposing;
  const first = encodeEvent(uuid(), decision.event, metadata, indexed);
  if (decision.removal === undefined) return { events: [first], decision };
  const removal = encodeEvent(uuid(), decision.removal, metadata);
  if (bytesOf(first) + bytesOf(removal) <= most) return { events: [first, removal], decision };
  return { events: [first], decision: withoutRemoval(decision) };
}

/** Returns the decision without the removal. Garbage collection removes the marked object later. */
function withoutRemoval({ removal: _removal, ...decision }: Made): Made {
  return { ...decision, object: must(decision.event.object, 'a removed object is marked') };
}

const unbounded: ReadonlySet<ObjectEvent['type']> = new Set(['ObjectDeletionRequested', 'ObjectDeleted', 'NameFenced']);

/**
 * Returns the proposal of a marked object without `values` in its event, because other objects have claimed these
 * values.
 */
export function lackingIn(proposal: Proposal, values: readonly HeldValue[], proposing: Proposing): Proposal {
  const { decision } = proposal;
  const { event } = decision;
  if (values.length === 0 || event.type === 'ObjectDeleted') return proposal;
  const held = event.values.filter(
    ({ index, hash }) => !values.some((other) => other.index === index && other.hash === hash),
  );
  return propose({ ...decision, event: { ...event, values: held } }, proposing);
}

/**
 * `bytes` is the size of the data of all events. `largest` is the size to which the size limit of objects applies: the
 * first event's size, but 0 for fences and deletions.
 */
export function sizeOf({ events, decision }: Proposal): { readonly bytes: number; readonly largest: number } {
  const { type } = decision.event;
  const bytes = events.reduce((sum, { data }) => sum + data.length, 0);
  return { bytes, largest: unbounded.has(type) ? 0 : events[0].data.length };
}

/** Returns the object after the append, for the response. `revision` and `position` belong to the last event. */
export function answerOf(
  events: Proposal['events'],
  { stream, revision, position }: Pick<RecordedEvent, 'stream' | 'revision' | 'position'>,
): Buffer {
  const last = events.at(-1) ?? events[0];
  const recorded = { ...last, stream, revision, position, endsAppend: true };
  return must(objectAnswer(recorded, position), 'an event of a write has an object');
}

export function bytesOf({ type, data, metadata }: ProposedEvent): number {
  return data.length + metadata.length + 2 * type.length + appendOverheadBytes;
}
