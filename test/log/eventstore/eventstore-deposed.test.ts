import { Readable } from 'node:stream';
import { test } from 'tap';
import type { Test } from 'tap';

import type { LogDriver } from '../../../src/log/eventstore/eventstore-client.ts';
import { openEventStoreLog } from '../../../src/log/eventstore/eventstore-log.ts';
import {
  logPosition,
  logStart,
  streamName,
  streamRevision,
  type EventLog,
  type ExpectedRevision,
  type ProposedEvent,
} from '../../../src/log/log.ts';
import { messageOf, noStream, resolvedOf, wrongVersion, type Stored } from '../../simulation/log/driver-answers.ts';
import { batchOf, collect, proposed } from '../../support/memory/log-events.ts';
import { quickClock } from '../../support/clocks/quick-clock.ts';

const stream = streamName('object:w/1');

/**
 * A deposed leader answers reads with its old state until it learns of the new leader: here the n-th read sees as many
 * events as `seen` says, and all later ones see all.
 */
class Servers {
  readonly #events: ProposedEvent[] = [];
  seen: number[] = [];
  /** Answers each append with a conflict, whether it stands or not. */
  readonly conflicting: { actual: ExpectedRevision; isStored: boolean }[] = [];

  readonly driver = {
    warmUp: () => Promise.resolve(),
    cut: () => Promise.resolve(),
    close: () => Promise.resolve(),
    appendToStream: (_stream: string, events: readonly ProposedEvent[]) => {
      const conflict = this.conflicting.shift();
      if (conflict?.isStored !== false) this.#events.push(...events);
      if (conflict !== undefined) return Promise.reject(wrongVersion(conflict.actual));
      return Promise.resolve({ nextExpectedRevision: BigInt(this.#events.length - 1), position: undefined });
    },
    readStream: (
      _stream: string,
      { fromRevision, maxCount }: { readonly fromRevision: bigint | 'end'; readonly maxCount: number },
    ) => {
      const seen = this.#next();
      if (seen === 0) return answerOf(noStream());
      return answerOf(
        fromRevision === 'end'
          ? this.#resolved(seen - 1, seen)
          : this.#resolved(Number(fromRevision), Math.min(seen, Number(fromRevision) + maxCount)),
      );
    },
    readAll: ({
      fromPosition,
      maxCount,
    }: {
      readonly fromPosition: { readonly commit: bigint } | 'end';
      readonly maxCount: number;
    }) => {
      const seen = this.#next();
      if (fromPosition === 'end') return answerOf(this.#resolved(0, seen).toReversed());
      return answerOf(
        this.#resolved(Number(fromPosition.commit), Math.min(seen, Number(fromPosition.commit) + maxCount)),
      );
    },
    subscribe: (_after: unknown, _prefixes: unknown, attach: (call: Readable) => void) => {
      const call = Object.assign(new Readable({ objectMode: true, read: () => undefined }), {
        cancel: () => undefined,
      });
      attach(call);
      for (const event of this.#recorded(0, this.#events.length)) call.push(messageOf(event));
      return Promise.resolve();
    },
  };

  #next(): number {
    return this.seen.shift() ?? this.#events.length;
  }

  /** From place `first` up to `end`; the position of a place is one more. */
  #recorded(first: number, end: number): readonly Stored[] {
    return this.#events.slice(first, Math.max(first, end)).map((event, at) => ({
      event: {
        ...event,
        stream,
        revision: streamRevision(first + at),
        position: logPosition(BigInt(first + at + 1)),
        endsAppend: true,
      },
      metadata: event.metadata,
      createdMs: 1,
    }));
  }

  #resolved(first: number, end: number): readonly unknown[] {
    return this.#recorded(first, end).map(resolvedOf);
  }
}

function answerOf(answer: readonly unknown[] | Error): Readable {
  const read =
    answer instanceof Error
      ? new Readable({
          read(): void {
            this.destroy(answer);
          },
        })
      : Readable.from(answer);
  return Object.assign(read, { cancel: () => Promise.resolve() });
}

function staged(t: Test): { readonly servers: Servers; readonly log: EventLog } {
  const servers = new Servers();
  const log = openEventStoreLog({
    url: 'esdb://servers',
    clock: quickClock(),
    connect: () => servers.driver as unknown as LogDriver,
  });
  t.teardown(() => log.close());
  return { servers, log };
}

test('a stored append is never reported as a lost race, whichever server answers', async (t) => {
  for (const seen of [
    [1, 3],
    [0, 3],
    [0, 0],
    [1, 0, 1, 3],
    [1, 1, 3],
  ]) {
    const { servers, log } = staged(t);
    servers.seen = [1];
    t.match(await log.append(stream, [proposed('before')], 'absent'), { ok: true, revision: 0 });
    servers.seen = [...seen];
    t.match(
      await log.append(stream, batchOf('two', 2), streamRevision(0)),
      { ok: true, revision: 2, position: 3n },
      `reads that see ${seen.join(', ')} events`,
    );
  }
});

test('a position is behind the end of the log only after a server has reported it for a while', async (t) => {
  const { servers, log } = staged(t);
  await log.append(stream, batchOf('three', 3), 'absent');
  servers.seen = [0, 2, 1];
  t.match(await log.readAt(logPosition(3n)), { revision: 2 });
  t.equal(await log.readAt(logPosition(4n)), undefined);
});

test('a read to a stored position does not end early at a server that is behind it', async (t) => {
  const { servers, log } = staged(t);
  await log.append(stream, batchOf('three', 3), 'absent');
  servers.seen = [1, 2];
  t.equal((await collect(log.readAll({ after: logStart, until: logPosition(3n) }))).length, 3);
});

test('a reported conflict is verified: an existing event is no conflict, a missing one is unknown', async (t) => {
  const { servers, log } = staged(t);
  servers.conflicting.push({ actual: streamRevision(0), isStored: true });
  t.match(await log.append(stream, [proposed('first')], 'absent'), { ok: true, revision: 0 });
  servers.conflicting.push({ actual: streamRevision(0), isStored: false });
  t.match(await log.append(stream, [proposed('second')], streamRevision(0)), { ok: false, reason: 'unknown' });
  servers.conflicting.push({ actual: streamRevision(0), isStored: false });
  t.match(await log.append(stream, [proposed('another first')], 'absent'), {
    ok: false,
    reason: 'conflict',
    actual: 0,
  });
  servers.conflicting.push({ actual: streamRevision(0), isStored: false });
  t.match(await log.append(stream, [proposed('ahead')], streamRevision(5)), {
    ok: false,
    reason: 'conflict',
    actual: 0,
  });
});
