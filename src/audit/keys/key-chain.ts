import { decodeEvent, decodeMetadata } from '../../log/event-codec.ts';
import { streamName, streamRevision } from '../../log/log.ts';
import type { EventLog, ExpectedRevision, LogPosition, RecordedEvent, StreamName } from '../../log/log.ts';
import { isVouched } from './key-statement.ts';

export const keysStream: StreamName = streamName('platform:keys');

/** A key that the log trusts. `by` is itself where a chain begins. */
export type TrustedKey = {
  readonly key: string;
  readonly by: string;
  readonly note: string;
  readonly eventId: string;
  readonly position: LogPosition;
  /** RFC 3339. */
  readonly time: string;
};

/** The keys of nodes, as `platform:keys` has them (docs/spec/tree.md). */
export class KeyChain {
  readonly #domain: string;
  readonly #trusted = new Map<string, TrustedKey>();
  readonly #offered = new Set<string>();
  #expected: ExpectedRevision = 'absent';

  constructor(domain: string) {
    this.#domain = domain;
  }

  /** In the order in which they were trusted. */
  get trusted(): readonly TrustedKey[] {
    return [...this.#trusted.values()];
  }

  /** Keys that wait for a signature. */
  get waiting(): readonly string[] {
    return [...this.#offered].filter((key) => !this.#trusted.has(key));
  }

  /** The revision after which the next event is appended. */
  get expected(): ExpectedRevision {
    return this.#expected;
  }

  isTrusted(key: string): boolean {
    return this.#trusted.has(key);
  }

  isOffered(key: string): boolean {
    return this.#offered.has(key);
  }

  /** An event without a valid signature, or by a key that is not trusted, has no effect. */
  add(recorded: RecordedEvent): void {
    this.#expected = recorded.revision;
    const { event } = decodeEvent(recorded);
    if (event.type === 'KeyOffered') {
      if (isVouched(this.#domain, { ...event, by: event.key })) this.#offered.add(event.key);
      return;
    }
    if (event.type !== 'KeySigned' || this.#trusted.has(event.key)) return;
    const { key, by, note } = event;
    if ((key !== by && !this.#trusted.has(by)) || !isVouched(this.#domain, event)) return;
    const { time } = decodeMetadata(recorded);
    this.#trusted.set(key, { key, by, note, eventId: recorded.id, position: recorded.position, time });
  }
}

const pageEvents = 500;

/** Adds the events that `chain` lacks: the stream only grows. */
export async function readKeys(log: Pick<EventLog, 'readStream'>, chain: KeyChain): Promise<void> {
  for (;;) {
    const from = streamRevision(chain.expected === 'absent' ? 0 : chain.expected + 1);
    const page = await log.readStream(keysStream, { from, limit: pageEvents });
    for (const recorded of page) chain.add(recorded);
    if (page.length < pageEvents) return;
  }
}
