import { finalizerRemoval } from '../../src/resource/object/finalizers.ts';
import type { Command } from '../../src/command/command.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import { platformContext } from '../../src/command/platform-context.ts';
import type { PlatformSubject } from '../../src/command/subject.ts';
import type { Execute } from '../../src/write/execute.ts';
import type { JsonObject, ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { again, failed, settled, type Outcome } from '../outcome.ts';
import { forbiddenRetryMs } from './platform-limits.ts';

/** An object as a step has read it. A decision from the object is valid only while the object is unchanged. */
export type Read = {
  readonly type: ResourceType;
  readonly object: ResourceObject;
  readonly resourceVersion: string;
};

type WritesDependencies = {
  readonly execute: Execute;
  readonly uuid: () => string;
};

/** The writes of one platform reconciler. The precondition of each write is the state on which it was decided. */
export class PlatformWrites {
  readonly #dependencies: WritesDependencies;
  readonly #subject: PlatformSubject;
  readonly #cause: CausingEvent | undefined;

  constructor(part: string, dependencies: WritesDependencies, cause?: CausingEvent) {
    this.#dependencies = dependencies;
    this.#subject = { kind: 'platform', part };
    this.#cause = cause;
  }

  /** Returns the writes of one step, with `cause` as the cause of their events. */
  because(cause: CausingEvent | undefined): PlatformWrites {
    return cause === undefined ? this : new PlatformWrites(this.#subject.part, this.#dependencies, cause);
  }

  async delete(read: Read, propagation?: (Command & { readonly type: 'delete' })['propagation']): Promise<Outcome> {
    return this.#write(read, 'delete', {
      type: 'delete',
      name: read.object.metadata.name,
      preconditions: boundTo(read),
      propagation,
    });
  }

  /** Writes a merge patch of the object. */
  async patch(read: Read, document: JsonObject, part: 'main' | 'status' = 'main'): Promise<Outcome> {
    return this.#write(read, 'patch', {
      type: 'patch',
      name: read.object.metadata.name,
      patch: { kind: 'merge', document },
      part,
      preconditions: boundTo(read),
    });
  }

  async removeFinalizer(read: Read, finalizer: string): Promise<Outcome> {
    return this.patch(read, { metadata: finalizerRemoval(read.object.metadata.finalizers, finalizer) });
  }

  async #write({ type }: Read, verb: string, command: Command): Promise<Outcome> {
    const { execute, uuid } = this.#dependencies;
    const outcome = await execute(
      type,
      command,
      platformContext(this.#subject, { verb, requestId: uuid() }, this.#cause),
    );
    if (outcome.ok) return settled;
    switch (outcome.rejection.reason) {
      // The object was deleted or changed before this write. The other change has enqueued the key.
      case 'not-found':
      case 'stale-version':
        return settled;
      case 'forbidden':
        return again(forbiddenRetryMs);
      default:
        return failed(new Error(`${type.key} ${outcome.rejection.reason}: ${outcome.rejection.detail}`));
    }
  }
}

type ReadPreconditions = {
  readonly uid: string;
  readonly resourceVersion: string;
};

function boundTo({ object, resourceVersion }: Read): ReadPreconditions {
  return { uid: object.metadata.uid, resourceVersion };
}
