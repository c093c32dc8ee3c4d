import { delay, type Clock } from '../../base/clock.ts';
import { serviceController } from '../../base/service-controller.ts';
import type { EventMetadata, KeyEvent } from '../../command/event.ts';
import { treeLevel } from '../../command/level.ts';
import { keyAnewMs, keyRetryMs } from '../../limits/audit.ts';
import { encodeEvent } from '../../log/event-codec.ts';
import type { EventLog, RecordedEvent } from '../../log/log.ts';
import type { LevelReader } from '../../read/declarations.ts';
import type { Leadership } from '../../read/leadership.ts';
import { KeyChain, keysStream, readKeys } from './key-chain.ts';
import type { NodeSigner } from './node-signer.ts';

export type NodeKeysDependencies = {
  readonly log: Pick<EventLog, 'readStream' | 'append'>;
  readonly domain: string;
  readonly signer: NodeSigner;
  readonly level: LevelReader;
  readonly leadership: Leadership;
  /** Whether no other node writes to this log. */
  readonly isAlone: boolean;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly metadata: () => EventMetadata;
  /** The listener gets each folded batch of events. */
  readonly changes: { subscribe(listener: (batch: readonly RecordedEvent[]) => void): () => void };
  /**
   * Called before this node's key signs itself although other keys are trusted. Auditors must trust such a new chain
   * explicitly.
   */
  readonly onAnew: () => void;
  readonly onError: (error: unknown) => void;
};

/**
 * Makes this node's key trusted, and signs the keys of other nodes. The first key of a log signs itself. A later key is
 * offered in the log, and any node with a trusted key signs the offered key.
 *
 * If no other node signs the leader's key in time, the leader's key signs itself. On a log with only one node, a later
 * key signs itself immediately. Such a key begins a new chain, which auditors must trust explicitly.
 */
export class NodeKeys {
  readonly #dependencies: NodeKeysDependencies;
  readonly #unsubscribe: readonly (() => void)[];
  readonly #stop = serviceController();
  #isOpen = false;
  #isTrusted = false;
  /** The monotonic time at which this node, as the leader, began to wait for another node's signature. */
  #waitingSince: number | undefined;
  #running: Promise<void> | undefined;
  #again = false;

  constructor(dependencies: NodeKeysDependencies) {
    this.#dependencies = dependencies;
    const look = (): void => {
      this.#look();
    };
    this.#unsubscribe = [
      dependencies.level.subscribe(look),
      dependencies.leadership.subscribe(look),
      dependencies.changes.subscribe((batch) => {
        if (batch.some(({ stream }) => stream === keysStream)) look();
      }),
    ];
  }

  /** Starts to offer and sign keys. Must be called after the read models have caught up. */
  open(): void {
    this.#isOpen = true;
    this.#look();
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#stop.abort();
    await this.#running;
  }

  /** Returns whether the log trusts this node's key. */
  isTrusted(): boolean {
    return this.#isTrusted;
  }

  /** Returns the reason why this node cannot sign yet; undefined if this node's key is trusted. */
  hindrance(): string | undefined {
    if (this.#isTrusted) return undefined;
    const level = this.#dependencies.level.level();
    return level < treeLevel
      ? `the log has level ${String(level)}, and nodes sign from level ${String(treeLevel)} on: upgrade all nodes`
      : "no trusted key has signed this node's key yet";
  }

  /** Reads all keys of the log. */
  async chain(): Promise<KeyChain> {
    const chain = new KeyChain(this.#dependencies.domain);
    await readKeys(this.#dependencies.log, chain);
    return chain;
  }

  #look(): void {
    if (!this.#isOpen || this.#stop.signal.aborted) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    const { clock, onError } = this.#dependencies;
    const { signal } = this.#stop;
    while (this.#again && !signal.aborted) {
      this.#again = false;
      try {
        if ((await this.#step()) === 'done') continue;
      } catch (error) {
        onError(error);
      }
      await delay(clock, keyRetryMs, signal);
      this.#again = true;
    }
  }

  /**
   * Appends at most one event. Returns `again` if the step must be repeated after a delay, because the append failed or
   * another node must sign first.
   */
  async #step(): Promise<'done' | 'again'> {
    const { level, log, signer } = this.#dependencies;
    if (level.level() < treeLevel) return 'done';
    const chain = await this.chain();
    this.#isTrusted = chain.isTrusted(signer.key);
    const event = this.#isTrusted ? this.#signatureFor(chain) : this.#ownKeyFor(chain);
    if (event === undefined) return this.#isTrusted ? 'done' : 'again';
    const { uuid, metadata } = this.#dependencies;
    const outcome = await log.append(keysStream, [encodeEvent(uuid(), event, metadata())], chain.expected);
    if (!outcome.ok) return 'again';
    this.#again = true;
    return 'done';
  }

  /** Returns the event that signs the first waiting key; undefined without a waiting key. */
  #signatureFor({ waiting: [key] }: KeyChain): KeyEvent | undefined {
    const { signer, domain } = this.#dependencies;
    return key === undefined
      ? undefined
      : {
          type: 'KeySigned',
          key,
          by: signer.key,
          note: signer.vouch(domain, key),
        };
  }

  #ownKeyFor(chain: KeyChain): KeyEvent | undefined {
    const { signer, domain, isAlone, leadership, clock, onAnew } = this.#dependencies;
    const { key } = signer;
    const note = signer.vouch(domain, key);
    const begin = { type: 'KeySigned', key, by: key, note } as const;
    if (isAlone || leadership.isLeader()) {
      if (chain.trusted.length === 0) return begin;
      this.#waitingSince ??= clock.monotonic();
      if (isAlone || clock.monotonic() - this.#waitingSince >= keyAnewMs) {
        onAnew();
        return begin;
      }
    } else this.#waitingSince = undefined;
    return chain.isOffered(key) ? undefined : { type: 'KeyOffered', key, note };
  }
}
