import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';

import { delay } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { LogDriver } from './eventstore-client.ts';
import { retryDelayMs } from './eventstore-contact.ts';
import type { Contact } from './eventstore-contact.ts';
import { faultOf } from './eventstore-errors.ts';
import { logReadAttemptsMax, logReplyMs } from './eventstore-limits.ts';
import { LogCorruptError } from '../log.ts';

export type Resolved = Pick<ResolvedEvent | AllStreamResolvedEvent, 'event'>;

export type RetryContext = {
  readonly client: () => LogDriver;
  readonly clock: Clock;
  readonly contact: Contact;
  readonly closing: AbortSignal;
};

/** The members of the driver's reads that this adapter uses. `Event` is the type of the emitted events. */
export type StreamingRead<Event> = {
  on(event: 'data', listener: (event: Event) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  cancel(): Promise<void>;
  destroy(): unknown;
};

type ReadEachOptions<Event, Kept> = {
  /** Maps an event to a value, or to undefined to drop the event. Must not throw. */
  readonly keep: (event: Event) => Kept | undefined;
  /** Creates a function for each attempt. The function receives each value, and returns true to end the read. */
  readonly enough?: (() => (kept: Kept) => boolean) | undefined;
  readonly failures?: 'failures too' | undefined;
};

/** Finite reads. Each read has a time limit, and is repeated a few times if a retry may succeed. */
export class RetriedReads {
  readonly #context: RetryContext;

  constructor(context: RetryContext) {
    this.#context = context;
  }

  read<Event extends Resolved>(
    make: (client: LogDriver) => StreamingRead<Event>,
    failures?: 'failures too',
  ): Promise<readonly Event[]> {
    return this.readEach(make, { keep: (event) => event, failures });
  }

  /**
   * Reads values; none from a stream that does not exist. With `failures`, an internal error of the server is rethrown
   * unchanged. Other failures become `LogUnavailableError`, `LogRefusedError` or `LogCorruptError`. A closed log throws
   * an `Error`.
   */
  async readEach<Event, Kept>(
    make: (client: LogDriver) => StreamingRead<Event>,
    { keep, enough, failures }: ReadEachOptions<Event, Kept>,
  ): Promise<readonly Kept[]> {
    const { clock, contact, closing } = this.#context;
    for (let attempt = 1; ; attempt += 1) {
      this.#assertOpen();
      try {
        const answer = await this.#once(make, keep, enough?.());
        contact.worked();
        return answer;
      } catch (error) {
        const fault = faultOf(error);
        if (fault.kind === 'no-stream') {
          contact.worked();
          return [];
        }
        if (fault.kind === 'tombstone')
          throw new LogCorruptError('a stream of the log was deleted permanently', { cause: error });
        if (fault.kind === 'failed' && failures !== undefined) throw error;
        this.#assertOpen(error);
        if (attempt >= logReadAttemptsMax || fault.kind === 'refused') throw await contact.failed(fault, error);
        await delay(clock, retryDelayMs(attempt), closing);
      }
    }
  }

  /**
   * Repeats a read of one event until the server replies or the log closes. The state of the log thus becomes available
   * again even if nothing else reads.
   */
  async revive(): Promise<void> {
    const { clock, contact, closing } = this.#context;
    for (let attempt = 1; !contact.state.reachable && !closing.aborted; attempt += 1) {
      await delay(clock, retryDelayMs(attempt), closing);
      const answered = this.#once(
        (client) => client.readAll({ direction: 'backwards', maxCount: 1 }),
        () => undefined,
      );
      await answered.then(
        () => {
          contact.worked();
        },
        () => undefined,
      );
    }
  }

  #assertOpen(cause?: unknown): void {
    if (this.#context.closing.aborted) throw new Error('the log is closed', { cause });
  }

  #once<Event, Kept>(
    make: (client: LogDriver) => StreamingRead<Event>,
    keep: (event: Event) => Kept | undefined,
    enough: (kept: Kept) => boolean = () => false,
  ): Promise<readonly Kept[]> {
    const { client, clock, closing } = this.#context;
    return new Promise((resolve, reject) => {
      const events: Kept[] = [];
      let isDone = false;
      const read = make(client());
      const settle = (finish: () => void): void => {
        timer.cancel();
        closing.removeEventListener('abort', close);
        finish();
      };
      // The result of the read is no longer needed, so a failed cancellation is ignored.
      const cancel = (): void => void read.cancel().catch(() => undefined);
      const abandon = (reason: string): void => {
        settle(() => {
          reject(new Error(reason));
        });
        cancel();
        read.destroy();
      };
      const close = (): void => {
        abandon('the log was closed');
      };
      const timer = clock.after(logReplyMs, () => {
        abandon(`no reply within ${logReplyMs.toString()} ms`);
      });
      closing.addEventListener('abort', close);
      read.on('data', (event: Event) => {
        const kept = isDone ? undefined : keep(event);
        if (kept === undefined) return;
        events.push(kept);
        if (!enough(kept)) return;
        isDone = true;
        settle(() => {
          resolve(events);
        });
        // The read is not destroyed, because the driver's close waits for calls with an unread response.
        cancel();
      });
      read.on('end', () => {
        settle(() => {
          resolve(events);
        });
      });
      read.on('error', (error: Error) => {
        settle(() => {
          reject(error);
        });
      });
    });
  }
}
