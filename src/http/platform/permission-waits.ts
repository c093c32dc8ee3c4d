import type { Clock } from '../../base/clock.ts';
import { Slices } from '../../base/slices.ts';
import type { Subject } from '../../command/subject.ts';
import { permissionSettleMs, permissionWaitsMax, permissionWaitsPerUserMax } from '../../limits/access.ts';
import type { ChangeFeed } from '../../read/objects.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { roleBindingKey, roleKey } from '../../auth/types/platform-types.ts';

export type PermissionWaitsDependencies = {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly changes: ChangeFeed;
  readonly permissions: Pick<PermissionReader, 'subscribe'>;
  /** Aborted when this node stops. */
  readonly signal: AbortSignal;
};

type Wait = {
  readonly user: string;
  /** Returns whether the permissions differ from those that the client knows. */
  readonly isChanged: () => boolean;
  readonly end: () => void;
};

/**
 * Requests that wait for a change of their caller's permissions. All are compared in one pass after a change of a role
 * or a binding, in slices: changes in quick succession cause one pass.
 */
export class PermissionWaits {
  readonly #dependencies: PermissionWaitsDependencies;
  readonly #waits = new Set<Wait>();
  /** The number of waits of each user in `#waits`. */
  readonly #counts = new Map<string, number>();
  #pass: 'idle' | 'due' | 'running' | 'repeated' = 'idle';

  constructor(dependencies: PermissionWaitsDependencies) {
    this.#dependencies = dependencies;
    dependencies.changes.subscribe(({ changes }) => {
      if (this.#waits.size > 0 && changes.some(({ type }) => type === roleKey || type === roleBindingKey)) this.#plan();
    });
    // A client whose session has ended learns this by its next request.
    dependencies.permissions.subscribe(({ credentials }) => {
      for (const wait of [...this.#waits]) if (credentials.has(wait.user)) wait.end();
    });
    dependencies.signal.addEventListener('abort', () => {
      for (const wait of [...this.#waits]) wait.end();
    });
  }

  /**
   * Resolves when the permissions have changed, after `ms`, or when the client disconnects. Resolves with false at once
   * if too many requests wait already.
   */
  async change(
    subject: Extract<Subject, { readonly kind: 'user' }>,
    { ms, isChanged, signal }: { readonly ms: number; readonly isChanged: () => boolean; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const user = subject.name;
    const count = this.#counts.get(user) ?? 0;
    if (this.#waits.size >= permissionWaitsMax || count >= permissionWaitsPerUserMax) return false;
    if (signal.aborted || this.#dependencies.signal.aborted) return true;
    this.#counts.set(user, count + 1);
    let end = (): void => undefined;
    const ended = new Promise<undefined>((resolve) => {
      end = () => {
        resolve(undefined);
      };
    });
    const wait = { user, isChanged, end };
    const timer = this.#dependencies.clock.after(ms, end);
    signal.addEventListener('abort', end);
    this.#waits.add(wait);
    await ended;
    timer.cancel();
    this.#remove(wait);
    return true;
  }

  #remove(wait: Wait): void {
    this.#waits.delete(wait);
    const left = (this.#counts.get(wait.user) ?? 1) - 1;
    if (left === 0) this.#counts.delete(wait.user);
    else this.#counts.set(wait.user, left);
  }

  #plan(): void {
    if (this.#pass === 'running') this.#pass = 'repeated';
    if (this.#pass !== 'idle') return;
    this.#pass = 'due';
    this.#dependencies.clock.after(permissionSettleMs, () => void this.#run());
  }

  async #run(): Promise<void> {
    this.#pass = 'running';
    const slices = new Slices(this.#dependencies.clock);
    for (const wait of [...this.#waits]) {
      if (this.#waits.has(wait) && wait.isChanged()) wait.end();
      if (slices.isOver()) await slices.next();
    }
    const isRepeated = this.#isRepeated();
    this.#pass = 'idle';
    if (isRepeated) this.#plan();
  }

  #isRepeated(): boolean {
    return this.#pass === 'repeated';
  }
}
