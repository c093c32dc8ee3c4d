import { randomUUID } from 'node:crypto';

import type { Clock } from '../base/clock.ts';
import { eventSchema } from '../command/event.ts';
import { nameLengthMax } from '../limits.ts';
import { decodeEvent, encodeEvent } from '../log/event-codec.ts';
import type { SecretKeeper } from '../write-rules.ts';
import { streamName, type AppendOutcome, type EventLog, type StreamName } from '../log/log.ts';

/**
 * Password hashes, one stream a user beside all objects: no read model holds them, so no API, watch or list can show one.
 * They are read from the log itself, which a verified log-in does once a minute at most.
 */
export class Secrets implements SecretKeeper {
  readonly #log: EventLog;
  readonly #clock: Clock;

  constructor(log: EventLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** The hash of the user's password as the log has it now; undefined for a user without one. */
  async passwordHashOf(username: string): Promise<string | undefined> {
    const stream = streamOf(username);
    const last = stream === undefined ? undefined : await this.#log.readLast(stream);
    const event = last === undefined ? undefined : decodeEvent(last).event;
    return event?.type === 'PasswordSet' ? event.hash : undefined;
  }

  async keep(): Promise<{ readonly ok: false }> {
    return Promise.resolve({ ok: false });
  }

  /** Sets a first password: a conflict means that there is one. */
  async setFirstPassword(username: string, hash: string): Promise<AppendOutcome> {
    const stream = streamOf(username);
    if (stream === undefined) throw new RangeError(`${JSON.stringify(username)} cannot be a user's name`);
    const requestId = randomUUID();
    const metadata = {
      actor: 'system:administrator', verb: 'create', requestId,
      time: new Date(this.#clock.now()).toISOString(), schema: eventSchema, $correlationId: requestId,
    };
    return this.#log.append(stream, [encodeEvent(randomUUID(), { type: 'PasswordSet', hash }, metadata)], 'absent');
  }
}

/** Anything may come as a user's name in a header; what cannot name a stream names no user. */
function streamOf(username: string): StreamName | undefined {
  if (username.length > nameLengthMax || !/^[\x21-\x7e]+$/u.test(username)) return undefined;
  return streamName(`secret:${username}`);
}
