import { decodeEvent } from '../../../src/log/event-codec.ts';
import { logPosition, streamRevision, type EventLog } from '../../../src/log/log.ts';
import type { SecretReader } from '../../../src/read/secrets.ts';

/** A read model of the secrets that are appended `through` it, without a table. */
export class FoldedSecrets implements SecretReader {
  readonly #hashes = new Map<string, string>();
  readonly #digests = new Map<string, string>();

  through(log: Pick<EventLog, 'append' | 'readLast'>): Pick<EventLog, 'append' | 'readLast'> {
    return {
      readLast: (stream) => log.readLast(stream),
      append: async (stream, events, expected) => {
        const outcome = await log.append(stream, events, expected);
        if (!outcome.ok) return outcome;
        const [proposed] = events;
        const place = { revision: streamRevision(outcome.revision), position: logPosition(outcome.position) };
        const { event } = decodeEvent({ ...proposed!, stream, ...place, endsAppend: true });
        const uid = stream.slice('secret:'.length);
        if (event.type === 'PasswordSet') this.#hashes.set(`${uid}/${String(outcome.revision)}`, event.hash);
        if (event.type === 'TokenIssued') this.#digests.set(uid, event.digest);
        return outcome;
      },
    };
  }

  passwordHash(uid: string, revision: number): string | undefined {
    return this.#hashes.get(`${uid}/${String(revision)}`);
  }

  tokenDigest(uid: string): string | undefined {
    return this.#digests.get(uid);
  }
}
