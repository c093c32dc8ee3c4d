import { platformContext } from '../../../src/command/platform-context.ts';
import type { PlatformSubject } from '../../../src/command/subject.ts';
import type { Execute } from '../../../src/write/execute.ts';
import { writeAttemptsMax } from '../../../src/limits/writes.ts';
import { decodeEvent, isObjectEvent } from '../../../src/log/event-codec.ts';
import { streamName, type EventLog, type StreamName } from '../../../src/log/log.ts';
import {
  isEnforced,
  type DeclarationReader,
  type Declared,
  type OlderReader,
  type WrittenObject,
} from '../../../src/read/declarations.ts';
import type { Duplicate } from '../../../src/read/uniqueness.ts';
import { valuesOfFact, type HeldValue } from '../../../src/resource/type/held-values.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { storedObject } from '../../../src/resource/object/shown-object.ts';
import { WriteRefusedError } from '../../outcome.ts';

const subject: PlatformSubject = { kind: 'platform', part: 'uniqueness' };

export type ObjectClaimsDependencies = {
  readonly log: Pick<EventLog, 'readLast'>;
  readonly rows: OlderReader;
  readonly declarations: DeclarationReader;
  readonly execute: Execute;
  /** Returns the holder of the claim of a value, read from the log. */
  readonly claimantOf: (claimed: {
    readonly type: TypeKey;
    readonly value: HeldValue;
  }) => Promise<StreamName | undefined>;
  readonly uuid: () => string;
};

/**
 * The indexes in which an object that was decided under `declared` may have unclaimed values. The indexes became unique
 * later and are not enforced yet.
 */
function unclaimedIndexes(standing: Declared, declared: number | undefined): readonly string[] {
  return Object.entries(standing.since)
    .filter(([index, since]) => (declared ?? -1) < since && !isEnforced(standing, index))
    .map(([index]) => index);
}

/**
 * Brings objects under the current declaration, one at a time. Claims the values of the object and appends a fence, so
 * that no pending write under an older declaration can succeed afterwards.
 */
export class ObjectClaims {
  readonly #dependencies: ObjectClaimsDependencies;

  constructor(dependencies: ObjectClaimsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Appends a fence that claims the values of the object, unless the object has all claims. Returns a duplicate if
   * another object has the claim of a value. Throws transient errors.
   */
  async claim(type: ResourceType, name: string): Promise<'claimed' | Duplicate> {
    const { rows, declarations, execute, uuid } = this.#dependencies;
    for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
      const [row, standing] = [rows.written(type.key, name), declarations.declared(type.key)];
      if (row === undefined || standing === undefined) return 'claimed';
      const indexes = unclaimedIndexes(standing, row.declared);
      const object = storedObject(row.bytes);
      if (indexes.length === 0 || (await this.#isClaimed(type, { row, object, standing, indexes }))) return 'claimed';
      const outcome = await execute(
        type,
        { type: 'fence', name, uid: object.metadata.uid, version: row.revision },
        platformContext(subject, { verb: 'update', requestId: uuid() }),
      );
      if (outcome.ok) return 'claimed';
      const { reason } = outcome.rejection;
      if (reason === 'unique-value-taken')
        return (await this.#duplicateOf(type, object)) ?? Promise.reject(new WriteRefusedError(outcome.rejection));
      // The object was changed or removed before this write. The next attempt reads the current state.
      if (reason !== 'stale-version') throw new WriteRefusedError(outcome.rejection);
    }
    throw new Error(`could not claim the values of ${type.key}/${name}: the object changed during every attempt`);
  }

  /**
   * Whether the object's last event already claimed all current values. The result can be true only if the indexes were
   * already unique when the event was decided.
   */
  async #isClaimed(type: ResourceType, { row, object, standing, indexes }: Looked): Promise<boolean> {
    const { log, claimantOf } = this.#dependencies;
    const { always } = standing;
    if (!indexes.every((index) => always[index] === 0 || (row.declared ?? -1) >= (always[index] ?? Infinity)))
      return false;
    const me = streamOf(type, object.metadata.name);
    const head = await log.readLast(me);
    if (head?.revision !== row.revision) return false;
    const { event } = decodeEvent(head);
    if (!isObjectEvent(event)) return false;
    for (const value of valuesOfFact(type.indexes, object)) {
      if (!indexes.includes(value.index)) continue;
      const isNamed = event.values.some(({ index, hash }) => index === value.index && hash === value.hash);
      if (!isNamed || (await claimantOf({ type: type.key, value })) !== me) return false;
    }
    return true;
  }

  async #duplicateOf(type: ResourceType, object: ResourceObject): Promise<Duplicate | undefined> {
    const { name } = object.metadata;
    for (const value of valuesOfFact(type.indexes, object)) {
      const claimant = await this.#dependencies.claimantOf({ type: type.key, value });
      if (claimant !== undefined && claimant !== streamOf(type, name))
        return {
          name,
          index: value.index,
          holder: claimant.slice(claimant.lastIndexOf('/') + 1),
        };
    }
    return undefined;
  }
}

type Looked = {
  readonly row: WrittenObject;
  readonly object: ResourceObject;
  readonly standing: Declared;
  readonly indexes: readonly string[];
};

function streamOf(type: ResourceType, name: string): StreamName {
  return streamName(`object:${type.key}/${name}`);
}
