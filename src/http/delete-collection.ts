import { deleteCollectionBatchObjectsMax, deleteCollectionConcurrencyMax } from '../limits/writes.ts';
import PQueue from 'p-queue';

import type { WriteContext } from '../command/command.ts';
import type { Propagation } from '../command/propagation.ts';
import type { Selection } from '../resource/list-query.ts';
import type { ResourceType } from '../resource/resource-type.ts';
import { bytesAnswer, refusal, type Answer } from './answer.ts';
import { decodeSelection } from './decode-list-query.ts';
import { writeContext } from './decode-write.ts';
import type { Exchange } from './exchange.ts';
import { readDeleteOptions, type ResourcePorts } from './item.ts';
import { problem, problemOf, type Problem } from './problem.ts';

/**
 * Marks everything the selectors choose, each object through the write door, and answers those now marked (decision 2). It is
 * not atomic: a refusal in the first batch is an answer; a later one can only cut the answer that has begun.
 */
export async function deleteCollection(exchange: Exchange, type: ResourceType, ports: ResourcePorts): Promise<Answer> {
  const options = await readDeleteOptions(exchange);
  if (!options.ok) return options.answer;
  // Deleting more than a page when a page was asked for would be the worst way not to understand a parameter.
  const paged = ['page', 'size', 'limit', 'continue'].find((parameter) => (exchange.query.get(parameter) ?? '') !== '');
  if (paged !== undefined) return refusal(problem('bad-request', `${paged}: a deletion takes selectors only`));
  const selection = decodeSelection(exchange.query, type);
  if (!selection.ok) return refusal(selection.problem);
  const context = writeContext(exchange);
  if (!context.ok) return refusal(context.problem);
  const { preconditions, dryRun, propagation } = options.value;
  if (Object.keys(preconditions).length > 0) return refusal(problem('bad-request', 'preconditions are for one object, not for a collection'));
  const batches = new Sweep(type, ports, { context: { ...context.value, dryRun: dryRun || context.value.dryRun }, propagation }).run(selection.value);
  let first: IteratorResult<Batch>;
  try {
    first = await batches.next();
  } catch (error) {
    if (error instanceof RefusedDeletion) return refusal(error.problem);
    throw error;
  }
  const chunks = envelope(type, ports, joined(first, batches));
  if (first.done !== true && first.value.more) return { kind: 'stream', chunks };
  const whole: Uint8Array[] = [];
  for await (const chunk of chunks) whole.push(chunk);
  return bytesAnswer(Buffer.concat(whole));
}

/** The answers of the objects marked together. */
type Batch = { readonly marked: readonly Uint8Array[]; readonly more: boolean };

class RefusedDeletion extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`a deletion of a collection was refused: ${problem.detail}`);
    this.name = 'RefusedDeletion';
    this.problem = problem;
  }
}

class Sweep {
  readonly #type: ResourceType;
  readonly #ports: ResourcePorts;
  readonly #context: WriteContext;
  readonly #propagation: Propagation | undefined;
  readonly #queue = new PQueue({ concurrency: deleteCollectionConcurrencyMax });

  constructor(type: ResourceType, ports: ResourcePorts, { context, propagation }: { readonly context: WriteContext; readonly propagation: Propagation | undefined }) {
    this.#type = type;
    this.#ports = ports;
    this.#context = context;
    this.#propagation = propagation;
  }

  /** What is chosen is settled once, so that an object made meanwhile is not caught. One batch is marked after another. */
  async *run(selection: Selection): AsyncGenerator<Batch, undefined> {
    const names = this.#ports.reader.names(this.#type.key, { selection, sort: [], window: { kind: 'all' } });
    for (let start = 0; start < names.length; start += deleteCollectionBatchObjectsMax) {
      const end = start + deleteCollectionBatchObjectsMax;
      const marked = await this.#queue.addAll(names.slice(start, end).map((name) => async () => this.#mark(name)));
      yield { marked: marked.filter((bytes) => bytes !== undefined), more: end < names.length };
    }
    return undefined;
  }

  /** Undefined when somebody else was faster. */
  async #mark(name: string): Promise<Uint8Array | undefined> {
    const outcome = await this.#ports.execute(this.#type, { type: 'delete', name, preconditions: {}, propagation: this.#propagation }, this.#context);
    if (outcome.ok) return outcome.bytes;
    if (outcome.rejection.reason === 'not-found') return undefined;
    throw new RefusedDeletion(problemOf(outcome.rejection, { kind: this.#type.kind, name }));
  }
}

async function* joined(first: IteratorResult<Batch>, rest: AsyncGenerator<Batch>): AsyncGenerator<Batch> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

/** A list whose counts are known only at its end. */
async function* envelope(type: ResourceType, { reader }: ResourcePorts, batches: AsyncIterable<Batch>): AsyncGenerator<Uint8Array> {
  let before = `${JSON.stringify({ apiVersion: type.apiVersion, kind: `${type.kind}List` }).slice(0, -1)},"items":[`;
  let total = 0;
  for await (const batch of batches) {
    for (const bytes of batch.marked) {
      yield Buffer.concat([Buffer.from(before), bytes]);
      before = ',';
      total += 1;
    }
  }
  const counts = { metadata: { resourceVersion: reader.position().toString() }, page: 1, size: 0, total, first: true, last: true, hasNext: false, hasPrevious: false, totalPages: 1 };
  yield Buffer.from(`${total === 0 ? before : ''}],${JSON.stringify(counts).slice(1)}`);
}
