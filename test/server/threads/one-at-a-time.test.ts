/** Requests that are served one at a time give the turn back, whatever ends them. */
import { test } from 'tap';

import type { ThreadMessage } from '../../../src/server/threads/message-thread.ts';
import { OneAtATime, type Run } from '../../../src/server/threads/one-at-a-time.ts';

const never = new AbortController().signal;
const refused: ThreadMessage<'bad-request'> = { kind: 'refused', reason: 'bad-request', detail: 'no' };

/** A run with this first message; it has two lines. */
class Lines implements Run<'bad-request'> {
  stops = 0;
  readonly #first: ThreadMessage<'bad-request'> | undefined;

  constructor(first: ThreadMessage<'bad-request'> | undefined = { kind: 'accepted' }) {
    this.#first = first;
  }

  async next(): Promise<ThreadMessage<'bad-request'> | undefined> {
    return Promise.resolve(this.#first);
  }

  async *lines(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(Buffer.from('one'));
    yield Buffer.from('two');
  }

  async stop(): Promise<void> {
    this.stops += 1;
    return Promise.resolve();
  }
}

test('a request holds the turn until its lines end or are abandoned', async (t) => {
  const turns = new OneAtATime('count');
  for (const taken of [2, 1]) {
    t.equal(turns.busy(), undefined);
    const run = new Lines();
    const answer = await turns.serve(never, () => run);
    t.match(turns.busy(), { reason: 'too-many-requests', detail: 'another count is running: only one runs at a time' });
    const seen: Uint8Array[] = [];
    for await (const line of answer.ok ? answer.lines : []) {
      seen.push(line);
      if (seen.length === taken) break;
    }
    t.strictSame([seen.length, run.stops], [taken, 1]);
  }
  t.equal(turns.busy(), undefined);
});

test('a request that is refused, fails or ends at once gives the turn back', async (t) => {
  const turns = new OneAtATime('count');
  const answers = [
    await turns.serve(never, () => new Lines(refused)),
    await turns.serve(never, () => new Lines({ kind: 'failed', detail: 'no memory' })),
    await turns.serve(never, async () => Promise.resolve(new Lines({ kind: 'failed', detail: 'no memory' }))),
  ];
  t.match(answers, [
    { ok: false, reason: 'bad-request', detail: 'no' },
    { ok: false, reason: 'unavailable', detail: 'no memory' },
    { ok: false, reason: 'unavailable', detail: 'no memory' },
  ]);
  await t.rejects(
    turns.serve(never, async () => Promise.reject(new Error('no tree'))),
    { message: 'no tree' },
  );
  t.equal(turns.busy(), undefined);
});

test('a caller that leaves, and a server that stops, end the run', async (t) => {
  const turns = new OneAtATime('count');
  const left = new Lines();
  t.match(await turns.serve(AbortSignal.abort(), () => left), { ok: true });
  const leaving = new AbortController();
  const run = new Lines();
  t.equal(left.stops, 1);
  t.equal(turns.busy(), undefined, 'although its lines are not iterated');
  await turns.serve(leaving.signal, () => run);
  leaving.abort();
  t.equal(run.stops, 1);
  const last = new Lines();
  await turns.serve(never, () => last);
  await turns.stop();
  t.equal(last.stops, 1);
  t.equal(turns.busy(), undefined);
});
