import { logStart } from '../../../src/log/log.ts';
import type {
  AppendOutcome,
  EventLog,
  LogPosition,
  ProposedEvent,
  RecordedEvent,
  SubscribeOptions,
} from '../../../src/log/log.ts';
import { idOf } from '../id-of.ts';

export function proposed(text: string): ProposedEvent {
  return {
    id: idOf(text),
    type: 'ObjectCreated',
    data: Buffer.from(JSON.stringify({ text })),
    metadata: Buffer.from('{"actor":"test"}'),
  };
}

export function batchOf(text: string, length: number): ProposedEvent[] {
  return Array.from({ length }, (_, index) => proposed(`${text}/${index.toString()}`));
}

/** Returns the comparable members of an event; bytes are compared by value, whatever their class is. */
export function plain(event: RecordedEvent | undefined): unknown {
  if (event === undefined) return undefined;
  return { ...event, data: Buffer.from(event.data).toString(), metadata: Buffer.from(event.metadata).toString() };
}

export async function collect(batches: AsyncIterable<readonly RecordedEvent[]>): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}

export type Delivery = { readonly next: () => Promise<readonly RecordedEvent[]>; readonly end: () => Promise<unknown> };

/** Reads a subscription batch by batch, when the test asks for the next one. */
export function deliver(log: EventLog, options: SubscribeOptions): Delivery {
  const batches: AsyncIterator<readonly RecordedEvent[], unknown> = log.subscribe(options)[Symbol.asyncIterator]();
  return {
    next: async () => {
      const result = await batches.next();
      return result.done === true ? [] : result.value;
    },
    end: async () => batches.return?.(),
  };
}

/** Reads a subscription until it has delivered the event at the position `last`. */
export async function collectTo(log: EventLog, options: SubscribeOptions, last: LogPosition): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of log.subscribe(options)) {
    events.push(...batch);
    if ((events.at(-1)?.position ?? logStart) >= last) break;
  }
  return events;
}

export function appended(outcome: AppendOutcome): { readonly revision: number; readonly position: LogPosition } {
  if (!outcome.ok) throw new Error(`not appended: ${outcome.reason}`, { cause: outcome });
  return { revision: outcome.revision, position: outcome.position };
}
