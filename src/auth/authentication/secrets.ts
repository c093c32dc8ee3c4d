import { randomUUID } from 'node:crypto';

import { delay, type Clock } from '../../base/clock.ts';
import { networkOf } from '../../base/network-of.ts';
import type { EventMetadata, SecretEvent } from '../../command/event.ts';
import type { Withheld } from '../../command/strategy.ts';
import { writeAttemptsMax } from '../../limits/writes.ts';
import { decodeEvent, encodeEvent } from '../../log/event-codec.ts';
import {
  LogCorruptError,
  streamName,
  type AppendOutcome,
  type EventLog,
  type ExpectedRevision,
  type ProposedEvent,
  type StreamName,
} from '../../log/log.ts';
import type { SecretReader } from '../../read/secrets.ts';
import type { KeptOutcome, SecretKeeper, SecretOwner } from '../../write/rules.ts';
import { Passwords } from '../passwords/password.ts';
import { digestOf, drawToken } from './token-text.ts';

export type SecretsDependencies = {
  readonly log: Pick<EventLog, 'append' | 'readLast'>;
  readonly clock: Clock;
  readonly folded: SecretReader;
  readonly passwords?: Passwords;
};

/**
 * Password hashes and token digests, in the stream `secret:<uid>` of their object. Both are folded into a table, so
 * that credentials can be verified while the log is unavailable. No API, watch or list reads the table.
 */
export class Secrets implements SecretKeeper {
  readonly #log: SecretsDependencies['log'];
  readonly #clock: Clock;
  readonly #folded: SecretReader;
  readonly #passwords: Passwords;

  constructor({ log, clock, folded, passwords = new Passwords() }: SecretsDependencies) {
    this.#log = log;
    this.#clock = clock;
    this.#folded = folded;
    this.#passwords = passwords;
  }

  async keep(withheld: Withheld, { uid, metadata, signal }: SecretOwner): Promise<KeptOutcome> {
    if (withheld.kind === 'token') {
      const token = drawToken(withheld.prefix, uid);
      const kept = await this.#append(streamOf(uid), { type: 'TokenIssued', digest: digestOf(token) }, metadata);
      return kept.ok ? { ok: true, kept: { ...kept.kept, token } } : kept;
    }
    const turn = { network: networkOf(metadata.address ?? ''), isKnown: true, signal };
    const hashed = await this.#passwords.hash(withheld.text, turn);
    if (!hashed.done) return { ok: false, busySeconds: hashed.retryAfterSeconds };
    return this.#append(streamOf(uid), { type: 'PasswordSet', hash: hashed.result }, metadata);
  }

  /**
   * Returns the password hash at this revision of the user's secret stream. An event of the user contains this
   * revision, and the log stores the hash before that event. A node that has folded the event thus also has the hash.
   */
  passwordHash(uid: string, revision: number): string | undefined {
    return this.#folded.passwordHash(uid, revision);
  }

  /** Returns the digest of a token's or session's text, from this node's table. */
  tokenDigest(uid: string): string | undefined {
    return this.#folded.tokenDigest(uid);
  }

  /** Reads the digest of a token's or session's text from the log, because this node may not have folded the digest. */
  async issuedDigest(uid: string): Promise<string | undefined> {
    const recorded = await this.#log.readLast(streamOf(uid));
    const event = recorded === undefined ? undefined : decodeEvent(recorded).event;
    return event?.type === 'TokenIssued' ? event.digest : undefined;
  }

  /**
   * Appends at the next revision of the stream. After a conflict, tries again a few times with a new event id, because
   * an event id belongs to one revision.
   */
  async #append(stream: StreamName, event: SecretEvent, metadata: EventMetadata): Promise<KeptOutcome> {
    for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
      const last = await this.#lastRevision(stream);
      if (last === 'unreadable') return { ok: false };
      const outcome = await this.#appendUntilKnown(stream, encodeEvent(randomUUID(), event, metadata), last);
      if (outcome.ok) return { ok: true, kept: { revision: outcome.revision } };
      if (outcome.reason !== 'conflict') return { ok: false };
    }
    return { ok: false };
  }

  async #lastRevision(stream: StreamName): Promise<ExpectedRevision | 'unreadable'> {
    try {
      return (await this.#log.readLast(stream))?.revision ?? 'absent';
    } catch (error) {
      if (error instanceof LogCorruptError) throw error;
      return 'unreadable';
    }
  }

  /**
   * Appends the event. After an unknown outcome, retries a few times with the same event id, because the log stores an
   * event id at most once.
   */
  async #appendUntilKnown(
    stream: StreamName,
    proposed: ProposedEvent,
    expected: ExpectedRevision,
  ): Promise<AppendOutcome> {
    let outcome = await this.#log.append(stream, [proposed], expected);
    for (let attempt = 1; !outcome.ok && outcome.reason === 'unknown' && attempt < writeAttemptsMax; attempt += 1) {
      await delay(this.#clock, Math.min(2 ** attempt, 250));
      outcome = await this.#log.append(stream, [proposed], expected);
    }
    return outcome;
  }
}

function streamOf(uid: string): StreamName {
  return streamName(`secret:${uid}`);
}
