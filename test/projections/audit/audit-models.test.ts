/** The fold of the audit indexes with a part that counts: restarts, other formats, exceptions, and waiting readers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Database } from 'lmdb';
import { test, type Test } from 'tap';

import { AuditModels, auditedCategories } from '../../../projections/audit/audit-models.ts';
import type { AuditPart } from '../../../projections/audit/audit-part.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { catchUp, follow, FoldError } from '../../../projections/runner.ts';
import { auditRestMs } from '../../../src/limits/audit.ts';
import { logPosition, streamName, type RecordedEvent } from '../../../src/log/log.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { appended, proposed } from '../../support/memory/log-events.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';

const identity = { logId: 'the only one', epoch: 0 };
const { signal } = new AbortController();

/** Counts events by stream, in a table and in memory. */
class Counter implements AuditPart {
  readonly name = 'counter';
  readonly format: number;
  /** The stream with events that cannot be counted. */
  refused: string | undefined;
  inMemory = 0;
  #added: string[] = [];
  #pending = 0;
  #counts!: Database<string, string>;

  constructor(format = 1) {
    this.format = format;
  }

  open(environment: Parameters<AuditPart['open']>[0]): void {
    this.#counts = environment.openTable('counts', { encoding: 'string' });
  }

  add({ stream }: RecordedEvent): number {
    this.#added.push(stream);
    return stream.length;
  }

  write(): void {
    for (const stream of this.#added.splice(0)) {
      if (stream === this.refused) throw new Error(`${stream} cannot be counted`);
      this.#counts.putSync(stream, String(this.count(stream) + 1));
      this.#pending += 1;
    }
  }

  committed(): void {
    this.inMemory += this.#pending;
    this.#pending = 0;
  }

  rolledBack(): void {
    [this.#added, this.#pending] = [[], 0];
  }

  cleared(): void {
    this.inMemory = 0;
  }

  count(stream: string): number {
    return Number(this.#counts.get(stream) ?? 0);
  }
}

function folderOf(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-audit-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

function opened(
  dir: string,
  part: Counter,
  clock = new FakeClock(),
): { readonly models: AuditModels; readonly tables: AuditTables } {
  const tables = new AuditTables(dir, [part]);
  const models = new AuditModels({ tables, parts: [part], identity: () => identity, clock });
  return { models, tables };
}

async function written(log: MemoryLog, ...streams: readonly string[]): Promise<void> {
  for (const stream of streams) appended(await log.append(streamName(stream), [proposed(stream)], 'absent'));
}

test('tables continue after a restart, and are rebuilt in another format', async (t) => {
  const [dir, log] = [folderOf(t), new MemoryLog()];
  await written(log, 'object:widgets.example.com/w1', 'claim:one', 'lease:reconcilers');
  const first = new Counter();
  const one = opened(dir, first);
  await catchUp(log, one.models, { signal });
  t.equal(first.count('claim:one'), 1);
  t.equal(first.count('lease:reconcilers'), 0, 'leases are no part of the audit');
  t.equal(first.inMemory, 2);
  await one.tables.close();

  await written(log, 'claim:two');
  const second = new Counter();
  const two = opened(dir, second);
  t.equal(two.models.folded(), 2);
  await catchUp(log, two.models, { signal });
  t.equal(second.inMemory, 1, 'only the new event is folded');
  t.equal(two.models.position(), logPosition(4n));
  await two.tables.close();

  const third = new Counter(2);
  const three = opened(dir, third);
  t.equal(three.models.folded(), 0);
  await catchUp(log, three.models, { signal });
  t.equal(third.inMemory, 3);
  t.equal(third.count('claim:one'), 1);
  await three.tables.close();
});

test('an event that cannot be folded changes no table, no position and no listener', async (t) => {
  const log = new MemoryLog();
  const part = new Counter();
  const { models, tables } = opened(folderOf(t), part);
  t.teardown(async () => tables.close());
  let batches = 0;
  models.subscribe(() => {
    batches += 1;
  });
  part.refused = 'claim:two';
  await written(log, 'claim:one', 'claim:two');
  await t.rejects(catchUp(log, models, { signal }), FoldError);
  t.strictSame([part.count('claim:one'), part.inMemory, models.folded(), batches], [0, 0, 0, 0]);
  part.refused = undefined;
  await catchUp(log, models, { signal });
  t.strictSame([part.count('claim:one'), part.inMemory, models.folded(), batches], [1, 2, 2, 1]);
});

test('a reader waits until a position is folded', async (t) => {
  const log = new MemoryLog();
  const part = new Counter();
  const { models, tables } = opened(folderOf(t), part);
  t.type(models.unavailable(), 'string');
  models.setUnavailable(undefined);
  const stop = new AbortController();
  const following = follow(log, models, stop.signal, { rest: async (ended) => models.rest(ended) });
  const reached = models.reached(logPosition(2n), { timeoutMs: 1_000 });
  await written(log, 'claim:one', 'access:node');
  t.equal(await reached, 'reached');
  t.equal(part.count('access:node'), 1);
  stop.abort();
  await following;
  await tables.close();
});

test('events that are appended while the fold rests are folded in one commit', async (t) => {
  const log = new MemoryLog();
  const clock = new FakeClock();
  const { models, tables } = opened(folderOf(t), new Counter(), clock);
  const stop = new AbortController();
  const sizes: number[] = [];
  let begun: (value: unknown) => void = () => undefined;
  const nextRest = async (): Promise<unknown> =>
    new Promise((resolve) => {
      begun = resolve;
    });
  models.subscribe(({ length }) => {
    sizes.push(length);
  });
  const rest = async (ended: AbortSignal): Promise<void> => {
    const resting = models.rest(ended);
    begun(undefined);
    return resting;
  };
  await written(log, 'claim:one');
  const first = nextRest();
  const following = follow(log, models, stop.signal, { rest });
  await first;
  await written(log, 'claim:two', 'claim:three');
  await written(log, 'claim:four');
  t.strictSame(sizes, [1]);
  const second = nextRest();
  clock.advance(auditRestMs);
  await second;
  t.strictSame(sizes, [1, 3]);

  await written(log, 'claim:five');
  t.equal(await models.reached(logPosition(5n), { timeoutMs: 1_000 }), 'reached', 'a request ends the rest');
  stop.abort();
  await following;
  await tables.close();
});

test('every category but leases is folded', (t) => {
  t.notOk(auditedCategories.includes('lease'));
  t.strictSame([...auditedCategories].sort(), auditedCategories);
  t.end();
});
