import semver from 'semver';

import type { Leadership } from '../../src/read/leadership.ts';
import { delay, type Clock, type Timer } from '../../src/base/clock.ts';
import { serviceController } from '../../src/base/service-controller.ts';
import { declarationsLevel, referencesLevel } from '../../src/command/level.ts';
import type { DomainEvent, EventMetadata } from '../../src/command/event.ts';
import { leaseMs } from '../../src/limits/reconcilers.ts';
import { decodeEvent, encodeEvent } from '../../src/log/event-codec.ts';
import {
  LogCorruptError,
  streamName,
  type EventLog,
  type ExpectedRevision,
  type LogPosition,
  type RecordedEvent,
} from '../../src/log/log.ts';
import type { DeclarationFeed, DeclarationReader, LevelReader } from '../../src/read/declarations.ts';
import type { ObjectReader } from '../../src/read/objects.ts';
import { isSameDeclaration, type Declaration } from '../../src/resource/type/declaration.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { declareRetryMs } from './platform-limits.ts';

export type DeclarerDependencies = {
  readonly log: Pick<EventLog, 'append' | 'readLast'>;
  readonly reader: Pick<ObjectReader, 'reached'>;
  readonly declarations: DeclarationReader & DeclarationFeed;
  readonly level: LevelReader;
  readonly leadership: Leadership;
  /** Returns the type as registered on this node. */
  readonly typeOf: (key: TypeKey) => ResourceType | undefined;
  readonly served: () => readonly ResourceType[];
  /**
   * Whether no other node writes to this log. A single node may replace any declaration, even by an older declaration.
   */
  readonly isAlone: boolean;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly metadata: () => EventMetadata;
  /** Called when the declaration of another node is in force, so that this node writes no objects of the type. */
  readonly onOther: (type: ResourceType, declared: Declaration) => void;
  readonly onError: (error: unknown, type: string) => void;
};

/**
 * Records declarations of types in the log (docs/spec/consistency.md, 7). The leader records its own types. Nothing is
 * declared before the log has the required level.
 *
 * An append by a deposed leader is harmless, because a node writes no object of a type if the last declaration differs
 * from its own.
 */
export class Declarer {
  readonly #dependencies: DeclarerDependencies;
  readonly #stopping = serviceController();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #timers = new Map<TypeKey, Timer>();
  /**
   * By key: the last type with which `declare` was called. While a plugin starts, `served` does not contain its types
   * yet.
   */
  readonly #asked = new Map<TypeKey, ResourceType>();
  /** By type: the revision of the last declaration that was reported with `onOther`. */
  readonly #reportedRevisions = new Map<TypeKey, number>();

  constructor(dependencies: DeclarerDependencies) {
    const { leadership, declarations, level } = dependencies;
    this.#dependencies = dependencies;
    this.#unsubscribe = [
      leadership.subscribe((leads) => {
        if (leads) void this.#declareKnown();
      }),
      level.subscribe(() => {
        void this.#declareKnown();
      }),
      declarations.subscribe((key) => {
        this.#onDeclared(key);
      }),
    ];
  }

  /**
   * Declares the types. Resolves when this node has folded each declaration, or when the wait for the fold has timed
   * out. Does not wait for a type that this node cannot declare now, for example because another node is the leader.
   */
  async declare(types: readonly ResourceType[]): Promise<void> {
    for (const type of types) this.#asked.set(type.key, type);
    await Promise.all(types.map(async (type) => this.#declare(type)));
  }

  /** Whether this node rejects writes of the type, because the latest declaration in the log differs from its own. */
  isOther(type: ResourceType): boolean {
    return this.#otherOf(type) !== undefined;
  }

  /** Resolves when this node no longer rejects writes of the type (`isOther`). */
  async waitUntilOwn(type: ResourceType): Promise<void> {
    if (!this.isOther(type)) return;
    await new Promise<void>((resolve) => {
      const unsubscribe = this.#dependencies.declarations.subscribe(() => {
        if (this.isOther(type)) return;
        unsubscribe();
        resolve();
      });
    });
  }

  stop(): void {
    this.#stopping.abort();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const timer of this.#timers.values()) timer.cancel();
  }

  /** Declares the served types, and the types that could not be declared when they were registered. */
  async #declareKnown(): Promise<void> {
    const types = new Set([...this.#dependencies.served(), ...this.#asked.values()]);
    for (const [key, type] of this.#asked) if (!this.#isWanted(type)) this.#asked.delete(key);
    await this.declare([...types].filter((type) => this.#isWanted(type)));
  }

  #otherOf({ key, declaration }: ResourceType): Declaration | undefined {
    const last = this.#dependencies.declarations.declared(key)?.declaration;
    return last === undefined || declaration === undefined || isSameDeclaration(last, declaration) ? undefined : last;
  }

  /**
   * Schedules another attempt when another node's declaration is in force. Two nodes may act as the leader for one
   * lease time, after which the actual leader declares the type again.
   */
  #onDeclared(key: TypeKey): void {
    const { typeOf, clock } = this.#dependencies;
    const type = typeOf(key);
    if (type === undefined || !this.isOther(type)) return;
    this.#timers.get(key)?.cancel();
    this.#timers.set(
      key,
      clock.after(leaseMs, () => {
        this.#timers.delete(key);
        const current = typeOf(key);
        if (current !== undefined) void this.#declare(current);
      }),
    );
  }

  async #declare(type: ResourceType): Promise<void> {
    const { clock, leadership, level, onError } = this.#dependencies;
    const { signal } = this.#stopping;
    while (this.#isWanted(type) && leadership.isLeader() && level.level() >= levelOf(type)) {
      try {
        if ((await this.#step(type)) === 'done') break;
      } catch (error) {
        if (error instanceof LogCorruptError) {
          onError(error, type.key);
          break;
        }
        // The log is unavailable, which `follow-log.ts` reports.
        await delay(clock, declareRetryMs, signal);
      }
    }
    if (this.#isWanted(type)) this.#reportOther(type);
  }

  #reportOther(type: ResourceType): void {
    const { declarations, onOther } = this.#dependencies;
    const [other, revision] = [this.#otherOf(type), declarations.declared(type.key)?.revision];
    if (other === undefined || revision === undefined || this.#reportedRevisions.get(type.key) === revision) return;
    this.#reportedRevisions.set(type.key, revision);
    onOther(type, other);
  }

  /** Whether the type is still registered on this node, and the declarer is not stopped. */
  #isWanted(type: ResourceType): boolean {
    return this.#dependencies.typeOf(type.key) === type && !this.#stopping.signal.aborted;
  }

  async #step(type: ResourceType): Promise<'done' | 'again'> {
    const { log, declarations } = this.#dependencies;
    const { key, declaration } = type;
    if (declaration === undefined || (declarations.declared(key) !== undefined && !this.isOther(type))) return 'done';
    const last = await log.readLast(streamName(`type:${key}`));
    if (last === undefined) return this.#append(key, declaration, 'absent');
    const standing = declarationIn(last);
    if (isSameDeclaration(standing, declaration)) return this.#folded(last.position);
    return this.#mayReplace(type, standing) ? this.#append(key, declaration, last.revision) : 'done';
  }

  async #append(key: TypeKey, declaration: Declaration, expected: ExpectedRevision): Promise<'done' | 'again'> {
    const { log, clock, uuid, metadata } = this.#dependencies;
    const event: DomainEvent = { type: 'TypeDeclared', ...declaration };
    const appended = await log.append(streamName(`type:${key}`), [encodeEvent(uuid(), event, metadata())], expected);
    if (appended.ok) return this.#folded(appended.position);
    if (appended.reason !== 'conflict') await delay(clock, declareRetryMs, this.#stopping.signal);
    return 'again';
  }

  /**
   * Whether this node may replace the declaration in force. If other nodes write to the log, an older plugin folder
   * must not replace the declaration of a newer version of the plugin.
   */
  #mayReplace({ declaration, source }: ResourceType, standing: Declaration): boolean {
    if (source !== 'folder' || this.#dependencies.isAlone || standing.plugin !== declaration?.plugin) return true;
    return semver.compare(declaration.version, standing.version) >= 0;
  }

  async #folded(position: LogPosition): Promise<'done'> {
    await this.#dependencies.reader.reached(position, {
      timeoutMs: declareRetryMs * 30,
      signal: this.#stopping.signal,
    });
    return 'done';
  }
}

function levelOf({ references }: ResourceType): number {
  return references.length > 0 ? referencesLevel : declarationsLevel;
}

function declarationIn(recorded: RecordedEvent): Declaration {
  const { event } = decodeEvent(recorded);
  if (event.type !== 'TypeDeclared')
    throw new LogCorruptError(
      `${recorded.stream} contains a ${event.type} event, which does not belong to this stream`,
    );
  return event;
}
