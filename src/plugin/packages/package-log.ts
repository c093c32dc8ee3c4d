import { createHash } from 'node:crypto';

import { delay, type Clock } from '../../base/clock.ts';
import { eventSchema, type EventMetadata, type PackageEvent } from '../../command/event.ts';
import { decodeEvent, decodeMetadata, encodeEvent } from '../../log/event-codec.ts';
import {
  streamName,
  streamRevision,
  type EventLog,
  type ExpectedRevision,
  type ProposedEvent,
  type StreamName,
} from '../../log/log.ts';
import {
  packageAppendAttemptsMax,
  packageBytesMax,
  packageChunkBytes,
  packageChunksReadMax,
  packageLookUpMs,
  packageLookUpsMax,
} from './package-limits.ts';
import { PackageUnreadableError, type PackageRef } from './package-store.ts';

export type PackageLogDependencies = {
  readonly log: Pick<EventLog, 'append' | 'readStream' | 'readLast'>;
  readonly clock: Clock;
  readonly uuid: () => string;
  /** Returns the time of the last folded event in epoch milliseconds. A new event must not have an earlier time. */
  readonly lastEventTime: () => number;
};

/**
 * The error if a chunk could not be appended, usually because the log was unavailable. A retry appends only the missing
 * chunks.
 */
export class PackageNotKeptError extends Error {
  constructor(options?: ErrorOptions) {
    super('the package is not stored completely, because an append to the event log failed; retry later', options);
    this.name = 'PackageNotKeptError';
  }
}

export function refOf(archive: Uint8Array): PackageRef {
  return { digest: createHash('sha256').update(archive).digest('hex'), bytes: archive.length };
}

type ChunkedPackage = {
  readonly digest: string;
  readonly count: number;
};

/** Packages in the log. The stream of a package is named after its digest, so that equal packages are stored once. */
export class PackageLog {
  readonly #dependencies: PackageLogDependencies;

  constructor(dependencies: PackageLogDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Appends the chunks that the log does not contain. Concurrent writers of a package append the same chunks, with
   * equal event ids.
   */
  async write(archive: Uint8Array, { digest }: PackageRef): Promise<void> {
    const stream = streamOf(digest);
    const count = Math.ceil(archive.length / packageChunkBytes);
    const last = await this.#dependencies.log.readLast(stream);
    for (let index = last === undefined ? 0 : last.revision + 1; index < count; index += 1) {
      const data = Buffer.from(archive.subarray(index * packageChunkBytes, (index + 1) * packageChunkBytes)).toString(
        'base64',
      );
      await this.#append(stream, { type: 'PackageChunk', index, count, data }, chunkId(digest, index));
    }
  }

  /**
   * Returns the archive, and verifies its size and digest. If chunks are missing, reads again after a delay, because a
   * follower of a replicated log may not have all events yet. Rejects with `PackageUnreadableError` if chunks remain
   * missing, the content is unexpected, or the declared size exceeds the limit.
   */
  async read({ digest, bytes }: PackageRef, signal?: AbortSignal): Promise<Uint8Array> {
    if (bytes > packageBytesMax)
      throw new PackageUnreadableError(
        `the package ${digest} declares ${String(bytes)} bytes; the limit is ${String(packageBytesMax)}`,
      );
    const chunks: Buffer[] = [];
    const count = Math.ceil(bytes / packageChunkBytes);
    for (let lookUps = 0; chunks.length < count; lookUps += 1) {
      if (lookUps >= packageLookUpsMax)
        throw new PackageUnreadableError(
          `the package ${digest} is incomplete in the event log: found ` +
            `${String(chunks.length)} of ${String(count)} chunks`,
        );
      if (lookUps > 0) await delay(this.#dependencies.clock, packageLookUpMs);
      signal?.throwIfAborted();
      await this.#readInto(chunks, { digest, count });
    }
    const archive = Buffer.concat(chunks);
    if (archive.length !== bytes || refOf(archive).digest !== digest)
      throw new PackageUnreadableError(
        `the content of the package ${digest} in the event log does not match the digest`,
      );
    return archive;
  }

  async #readInto(chunks: Buffer[], { digest, count }: ChunkedPackage): Promise<void> {
    for (;;) {
      const page = await this.#dependencies.log.readStream(streamOf(digest), {
        from: streamRevision(chunks.length),
        limit: Math.min(packageChunksReadMax, count - chunks.length),
      });
      for (const recorded of page) {
        decodeMetadata(recorded);
        const { event } = decodeEvent(recorded);
        if (event.type !== 'PackageChunk' || event.index !== chunks.length || event.count !== count)
          throw new PackageUnreadableError(
            `the event log contains unexpected events in the stream of the package ${digest}`,
          );
        chunks.push(Buffer.from(event.data, 'base64'));
      }
      if (page.length === 0 || chunks.length === count) return;
    }
  }

  async #append(stream: StreamName, chunk: PackageEvent, id: string): Promise<void> {
    const { log, clock } = this.#dependencies;
    const proposed = this.#proposed(chunk, id);
    const expected: ExpectedRevision = chunk.index === 0 ? 'absent' : streamRevision(chunk.index - 1);
    let cause: unknown;
    for (let attempt = 0; attempt < packageAppendAttemptsMax; attempt += 1) {
      if (attempt > 0) await delay(clock, packageLookUpMs);
      const outcome = await log.append(stream, [proposed], expected);
      if (outcome.ok) return;
      // A concurrent writer of the same package has already appended this chunk, with the same event id.
      if (outcome.reason === 'conflict' && outcome.actual !== 'absent' && outcome.actual >= chunk.index) return;
      cause = outcome.reason === 'conflict' ? new Error(`${stream} is not at the expected revision`) : outcome.cause;
    }
    throw new PackageNotKeptError({ cause });
  }

  #proposed(chunk: PackageEvent, id: string): ProposedEvent {
    const { clock, uuid, lastEventTime } = this.#dependencies;
    const requestId = uuid();
    const time = new Date(Math.max(clock.now(), lastEventTime())).toISOString();
    const metadata: EventMetadata = {
      actor: 'system:packages',
      verb: 'create',
      requestId,
      time,
      schema: eventSchema,
      $correlationId: requestId,
    };
    return encodeEvent(id, chunk, metadata);
  }
}

function streamOf(digest: string): StreamName {
  return streamName(`package:${digest}`);
}

/** Returns the event id of a chunk: a name-based UUID (RFC 9562, version 8), equal for the same chunk on every node. */
function chunkId(digest: string, index: number): string {
  const hash = createHash('sha256')
    .update(`package-chunk:${digest}:${String(index)}`)
    .digest('hex');
  const variant = (8 + (Number.parseInt(hash.charAt(16), 16) % 4)).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}
