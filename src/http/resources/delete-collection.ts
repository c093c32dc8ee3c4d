import { deleteCollectionBatchObjectsMax, deleteCollectionConcurrencyMax } from '../../limits/writes.ts';
import PQueue from 'p-queue';

import type { WriteContext } from '../../command/command.ts';
import type { Propagation } from '../../command/propagation.ts';
import type { Selection } from '../../resource/query/list-query.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { storedObject } from '../../resource/object/shown-object.ts';
import { bytesAnswer, refusal, takenOver, type Answer } from '../answer.ts';
import type { Client } from '../../read/client.ts';
import { decodeSelection } from './decode-list-query.ts';
import { readerOf } from './collection.ts';
import { writeContext } from './decode-write.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import { listKindOf, listOpening } from './list-envelope.ts';
import type { Clock } from '../../base/clock.ts';
import type { Representation } from '../representation/representation.ts';
import { requestedForm } from '../representation/requested-form.ts';
import { readDeleteOptions, type ResourcePorts } from './item.ts';
import { problem, problemOf, type Problem } from '../problem.ts';

/**
 * Deletes all objects that the selectors match, each by its own write. Returns the deleted or marked objects. The
 * deletion is not atomic.
 *
 * A refusal in the first batch refuses the request. In a later batch, a rate limit ends the list, which then reports
 * the number of remaining objects. Another refusal aborts the response, because the status has been sent.
 */
export async function deleteCollection(exchange: Exchange, type: ResourceType, ports: ResourcePorts): Promise<Answer> {
  const requested = requestedForm(exchange, type);
  if (!requested.ok) return refusal(requested.problem);
  const options = await readDeleteOptions(exchange);
  if (!options.ok) return options.answer;
  // A caller with a paging parameter does not intend to delete all objects.
  const paged = ['page', 'size', 'limit', 'continue'].find((parameter) => (exchange.query.get(parameter) ?? '') !== '');
  if (paged !== undefined)
    return refusal(problem('bad-request', `${paged}: is not a parameter of a deletion of a collection`));
  const selection = decodeSelection(exchange.query, type);
  if (!selection.ok) return refusal(selection.problem);
  const context = writeContext(exchange);
  if (!context.ok) return refusal(context.problem);
  const { preconditions, dryRun, propagation } = options.value;
  if (Object.keys(preconditions).length > 0)
    return refusal(problem('bad-request', 'a deletion of a collection does not accept preconditions'));
  const disconnected = disconnectSignalOf(exchange.res);
  const batches = new Sweep(type, ports, {
    context: { ...context.value, dryRun: dryRun || context.value.dryRun },
    propagation,
    client: readerOf(exchange),
  }).run(selection.value, disconnected);
  let first: IteratorResult<Batch>;
  try {
    first = await batches.next();
  } catch (error) {
    return unfinished(error, disconnected);
  }
  const chunks = envelope(type, ports, joined(first, batches), { form: requested.form, clock: exchange.clock });
  if (first.done !== true && first.value.more) return { kind: 'stream', chunks };
  const whole: Uint8Array[] = [];
  for await (const chunk of chunks) whole.push(chunk);
  return bytesAnswer(Buffer.concat(whole));
}

function unfinished(error: unknown, disconnected: AbortSignal): Answer {
  if (error instanceof RefusedDeletion) return refusal(error.problem);
  if (disconnected.aborted) return takenOver;
  throw error;
}

/** The result of one batch. `left` is the number of objects that remain because of the caller's rate limits. */
type Batch = {
  readonly marked: readonly Uint8Array[];
  readonly more: boolean;
  readonly left: number;
};

/** The result of one write. `bytes` is undefined if another writer has already deleted the object. */
type Marked = { readonly bytes: Uint8Array | undefined } | { readonly refused: Problem };

class RefusedDeletion extends Error {
  readonly problem: Problem;

  constructor(refused: Problem) {
    super(`a deletion of a collection was refused: ${refused.detail}`);
    this.name = 'RefusedDeletion';
    this.problem = refused;
  }
}

type CollectionDeletion = {
  readonly context: WriteContext;
  readonly propagation: Propagation | undefined;
  readonly client: Client;
};

class Sweep {
  readonly #type: ResourceType;
  readonly #ports: ResourcePorts;
  readonly #context: WriteContext;
  readonly #propagation: Propagation | undefined;
  readonly #client: Client;
  readonly #queue = new PQueue({ concurrency: deleteCollectionConcurrencyMax });

  constructor(type: ResourceType, ports: ResourcePorts, { context, propagation, client }: CollectionDeletion) {
    this.#type = type;
    this.#ports = ports;
    this.#context = context;
    this.#propagation = propagation;
    this.#client = client;
  }

  /**
   * Selects the names once, so that later objects are not deleted, and deletes one batch after another. Deletes nothing
   * if the client disconnects during the selection.
   */
  async *run(selection: Selection, signal: AbortSignal): AsyncGenerator<Batch, undefined> {
    const names = await this.#ports.reader.names(this.#type.key, selection, signal);
    let done = 0;
    for (let start = 0; start < names.length; start += deleteCollectionBatchObjectsMax) {
      const end = start + deleteCollectionBatchObjectsMax;
      const outcomes = await this.#markAll(names.slice(start, end));
      const marked = outcomes.flatMap((outcome) =>
        'bytes' in outcome && outcome.bytes !== undefined ? [outcome.bytes] : [],
      );
      done += outcomes.filter((outcome) => 'bytes' in outcome).length;
      const refused = outcomes.find((outcome) => 'refused' in outcome)?.refused;
      if (refused === undefined) {
        yield { marked, more: end < names.length, left: 0 };
        continue;
      }
      if (start === 0 || refused.reason !== 'too-many-requests')
        throw new RefusedDeletion(withProgress(refused, done, names.length));
      yield { marked, more: false, left: names.length - done };
      return undefined;
    }
    return undefined;
  }

  /** Deletes the objects of a batch. After a refusal, no further writes start. */
  async #markAll(names: readonly string[]): Promise<readonly Marked[]> {
    let isRefused = false;
    const outcomes = await this.#queue.addAll(
      names.map((name) => async () => {
        if (isRefused) return undefined;
        // Without this wait, a million dry runs would run in one turn of the event loop.
        const turn = this.#ports.reader.snapshots.turn(this.#client);
        if (turn !== undefined) await turn;
        const outcome = await this.#mark(name);
        if ('refused' in outcome) isRefused = true;
        return outcome;
      }),
    );
    return outcomes.filter((outcome) => outcome !== undefined);
  }

  async #mark(name: string): Promise<Marked> {
    const command = { type: 'delete', name, preconditions: {}, propagation: this.#propagation } as const;
    const context: WriteContext = this.#isMarked(name) ? { ...this.#context, admitted: 'counted' } : this.#context;
    const outcome = await this.#ports.execute(this.#type, command, context);
    if (outcome.ok) return { bytes: outcome.bytes };
    if (outcome.rejection.reason === 'not-found') return { bytes: undefined };
    return { refused: problemOf(outcome.rejection, { kind: this.#type.kind, name }) };
  }

  /**
   * Returns whether the object is already marked. Deletions of marked objects are not counted, because a repeated
   * request could otherwise use up the rate limit.
   */
  #isMarked(name: string): boolean {
    const bytes = this.#ports.reader.get(this.#type.key, name)?.bytes;
    // Parses only the few objects that contain the name of the member.
    if (bytes === undefined) return false;
    const { buffer, byteOffset, length } = bytes;
    if (!Buffer.from(buffer, byteOffset, length).includes('"deletionTimestamp"')) return false;
    return storedObject(bytes).metadata.deletionTimestamp !== undefined;
  }
}

function withProgress(refused: Problem, done: number, chosen: number): Problem {
  if (done === 0) return refused;
  const progress = `${String(done)} of ${String(chosen)} objects are deleted or marked for deletion`;
  return { ...refused, detail: `${refused.detail}; ${progress}; send the request again for the rest` };
}

async function* joined(first: IteratorResult<Batch>, rest: AsyncGenerator<Batch>): AsyncGenerator<Batch> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

type DeletionOutput = {
  readonly form: Representation | undefined;
  readonly clock: Clock;
};

/** Encodes a list. The counts follow the items, because the counts are known only at the end. */
async function* envelope(
  type: ResourceType,
  { reader }: ResourcePorts,
  batches: AsyncIterable<Batch>,
  { form, clock }: DeletionOutput,
): AsyncGenerator<Uint8Array> {
  let before = `${JSON.stringify(listKindOf(type, form)).slice(0, -1)}${form?.listOpening ?? listOpening}`;
  let total = 0;
  let left = 0;
  for await (const batch of batches) {
    left = batch.left;
    for (const bytes of batch.marked) {
      yield Buffer.concat([Buffer.from(before), form?.items(bytes, clock.now()).bytes ?? bytes]);
      before = ',';
      total += 1;
    }
  }
  const metadata = {
    resourceVersion: reader.position().toString(),
    ...(left === 0 ? {} : { remainingItemCount: left }),
  };
  const pages = {
    page: 1,
    size: 0,
    total,
    first: true,
    last: left === 0,
    hasNext: left > 0,
    hasPrevious: false,
    totalPages: 1,
  };
  const counts = { metadata, ...pages };
  yield Buffer.from(`${total === 0 ? before : ''}],${JSON.stringify(counts).slice(1)}`);
}
