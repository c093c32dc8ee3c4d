import { decodeEvent, decodeMetadata } from '../../log/event-codec.ts';
import { streamName, streamRevision } from '../../log/log.ts';
import type { EventLog, ExpectedRevision, LogPosition, RecordedEvent, StreamName } from '../../log/log.ts';
import { isVouched } from './key-statement.ts';

export const keysStream: StreamName = streamName('platform:keys');

/**
 * A key that the log trusts. `by` is the key that signed `key`; the first key of a chain signs itself. Both keys are
 * raw keys in base64.
 */
export type TrustedKey = {
  readonly key: string;
  readonly by: string;
  readonly note: string;
  readonly eventId: string;
  readonly position: LogPosition;
  /** The time of the event (RFC 3339). */
  readonly time: string;
};

/** The keys of the nodes in the stream `platform:keys` (docs/spec/tree.md). */
export class KeyChain {
  readonly #domain: string;
  readonly #trusted = new Map<string, TrustedKey>();
  readonly #offered = new Set<string>();
  #expected: ExpectedRevision = 'absent';

  constructor(domain: string) {
    this.#domain = domain;
  }

  /** The trusted keys, in the order of their events. */
  get trusted(): readonly TrustedKey[] {
    return [...this.#trusted.values()];
  }

  /** The offered keys that no trusted key has signed. */
  get waiting(): readonly string[] {
    return [...this.#offered].filter((key) => !this.#trusted.has(key));
  }

  /** The expected revision of the next append to the stream. */
  get expected(): ExpectedRevision {
    return this.#expected;
  }

  isTrusted(key: string): boolean {
    return this.#trusted.has(key);
  }

  isOffered(key: string): boolean {
    return this.#offered.has(key);
  }

  /**
   * Adds an event. An event has no effect if its signature is invalid, or if the signing key is neither trusted nor the
   * key in the event.
   */
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

/** Adds the events of the stream that `chain` does not contain yet. */
export async function readKeys(log: Pick<EventLog, 'readStream'>, chain: KeyChain): Promise<void> {
  for (;;) {
    const from = streamRevision(chain.expected === 'absent' ? 0 : chain.expected + 1);
    const page = await log.readStream(keysStream, { from, limit: pageEvents });
    for (const recorded of page) chain.add(recorded);
    if (page.length < pageEvents) return;
  }
}
