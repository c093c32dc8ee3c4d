import { timingSafeEqual } from 'node:crypto';

import { freshnessWaitMs } from '../../limits/writes.ts';
import { lastObject } from '../../log/last-object.ts';
import { LogCorruptError, streamName, type EventLog, type LogPosition } from '../../log/log.ts';
import { lastRevision, type ObjectReader } from '../../read/objects.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { nameProblem } from '../../resource/type/names.ts';
import type { Secrets } from './secrets.ts';
import { digestOf } from './token-text.ts';

export type ElsewhereDependencies = {
  readonly log: Pick<EventLog, 'readLast' | 'readAllBackward' | 'state'>;
  readonly reader: Pick<ObjectReader, 'position' | 'reached' | 'head'>;
  readonly secrets: Pick<Secrets, 'issuedDigest'>;
};

/**
 * Folds recent writes of other nodes before a refusal. This node thus does not refuse a token or password that another
 * node has created. Without new events, a refusal costs one read of the log.
 */
export class UnfoldedWrites {
  readonly #dependencies: ElsewhereDependencies;

  constructor(dependencies: ElsewhereDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Looks in the log for a token or session that this node has not folded. Returns:
   *
   * - 'retry' if all relevant events are now folded;
   * - 'never-issued' if the log has no token or session with this text;
   * - 'undecided' if the log cannot be read or folded in time.
   */
  async refreshToken(uid: string, text: string): Promise<'retry' | 'never-issued' | 'undecided'> {
    const { log, reader, secrets } = this.#dependencies;
    if (!log.state().reachable) return 'undecided';
    try {
      const digest = await secrets.issuedDigest(uid);
      if (digest === undefined || !isDigestOf(digest, text)) return 'never-issued';
      return (await this.#folded(await lastObject(log, reader.position()))) ? 'retry' : 'undecided';
    } catch (error) {
      if (error instanceof LogCorruptError) throw error;
      return 'undecided';
    }
  }

  /**
   * Looks in the log for newer events of an object, and waits until this node has folded the events. Returns true if
   * newer events exist and are folded, and false otherwise, for example if the log is unavailable.
   */
  async refreshObject(type: TypeKey, name: string): Promise<boolean> {
    const { log, reader } = this.#dependencies;
    if (!log.state().reachable || nameProblem(name) !== undefined) return false;
    try {
      const last = await log.readLast(streamName(`object:${type}/${name}`));
      const folded = lastRevision(reader.head(type, name)) ?? -1;
      return last !== undefined && last.revision > folded && (await this.#folded(last.position));
    } catch (error) {
      if (error instanceof LogCorruptError) throw error;
      return false;
    }
  }

  async #folded(position: LogPosition): Promise<boolean> {
    return (await this.#dependencies.reader.reached(position, { timeoutMs: freshnessWaitMs })) === 'reached';
  }
}

export function isDigestOf(digest: string, text: string): boolean {
  const [shown, issued] = [Buffer.from(digestOf(text), 'hex'), Buffer.from(digest, 'hex')];
  return shown.length === issued.length && timingSafeEqual(shown, issued);
}
