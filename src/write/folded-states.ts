import type { Decision } from '../command/decide.ts';
import type { State } from '../command/evolve.ts';
import { writeFoldWaitMs } from '../limits/writes.ts';
import type { LogPosition } from '../log/log.ts';
import type { ObjectReader } from '../read/objects.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import { shownObject, storedObject } from '../resource/object/shown-object.ts';
import type { RetryingLog } from './retrying-log.ts';
import type { Attempt } from './attempts.ts';
import { unavailable } from './refusals.ts';
import type { Target } from './target.ts';

/** The states of objects that this node has folded. */
export class FoldedStates {
  readonly #log: RetryingLog;
  readonly #reader: ObjectReader;

  constructor(log: RetryingLog, reader: ObjectReader) {
    this.#log = log;
    this.#reader = reader;
  }

  state(type: ResourceType, name: string): State {
    const head = this.#reader.head(type.key, name);
    if (head.kind !== 'live') return head;
    const { bytes, revision, position } = head.stored;
    return { kind: 'live', revision, position, object: storedObject(bytes) };
  }

  /**
   * Returns the outcome of a decision that appends nothing: a refusal, a write without changes, or a dry run. The
   * decision is valid only if this node has folded the whole stream of the object (docs/spec/consistency.md, 4). Reads
   * the end of the stream from the log, and returns `again` after folding later events.
   */
  async confirm(target: Target, decision: Decision): Promise<Attempt> {
    const head = await this.#log.readLast(target.stream);
    const folded = target.state.kind === 'absent' ? -1 : target.state.revision;
    if (head !== undefined && head.revision > folded) return this.reach(head.position);
    if (!decision.ok) return decision;
    const { object, warnings } = decision;
    const { name, version } = object.metadata;
    if (decision.event !== undefined) {
      const shown = dryRunOf(target.state, object);
      return { ok: true, bytes: Buffer.from(JSON.stringify(shown)), version, name, appended: false, warnings };
    }
    const stored = this.#reader.get(target.type.key, name);
    if (stored === undefined || stored.revision !== version) return 'again';
    return { ok: true, bytes: stored.bytes, version, name, appended: false, warnings };
  }

  /**
   * Waits until this node has folded the object events that were in the log at the call, including other nodes' writes.
   * A later decision then cannot use a right that was revoked before the call (docs/spec/consistency.md, 4).
   */
  async reachEnd(): Promise<Attempt> {
    return this.reach(await this.#log.lastObject(this.#reader.position()));
  }

  /**
   * Waits until this node has folded the log up to a position, and then returns `again`. Returns a refusal after the
   * time limit.
   */
  async reach(position: LogPosition): Promise<Attempt> {
    if (this.#reader.position() >= position) return 'again';
    const reached = await this.#reader.reached(position, { timeoutMs: writeFoldWaitMs });
    return reached === 'reached' ? 'again' : unavailable();
  }
}

/**
 * Returns the object after a dry run, with the resourceVersion of the stored object. A new object has none, because a
 * dry run has no position.
 */
function dryRunOf(state: State, object: ResourceObject): object {
  return state.kind === 'live' ? shownObject(object, state.position.toString()) : object;
}
