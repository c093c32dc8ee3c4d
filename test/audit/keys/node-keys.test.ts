/** Keys of nodes become trusted by the log, whichever nodes come, go, or lose theirs. */
import { test, type Test } from 'tap';

import { KeyChain, keysStream, readKeys } from '../../../src/audit/keys/key-chain.ts';
import { NodeKeys } from '../../../src/audit/keys/node-keys.ts';
import { NodeSigner } from '../../../src/audit/keys/node-signer.ts';
import { eventSchema, type EventMetadata, type KeyEvent } from '../../../src/command/event.ts';
import { treeLevel } from '../../../src/command/level.ts';
import { keyAnewMs, keyRetryMs } from '../../../src/limits/audit.ts';
import { decodeEvent, encodeEvent } from '../../../src/log/event-codec.ts';
import { logStart, type RecordedEvent } from '../../../src/log/log.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { idOf } from '../../support/id-of.ts';
import { appended, collect } from '../../support/memory/log-events.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { settled } from '../../support/clocks/turns.ts';

const domain = 'svc.run';
const metadata: EventMetadata = {
  actor: 'system:keys',
  verb: 'create',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

const keyOf = (seed: number): NodeSigner => new NodeSigner(Buffer.alloc(32, seed));

/** Nodes of one log, at one time. */
class Nodes {
  readonly log = new MemoryLog();
  readonly clock = new FakeClock();
  readonly anew: string[] = [];
  level = treeLevel;
  #ids = 0;
  readonly #t: Test;
  readonly #listeners = new Set<(batch: readonly RecordedEvent[]) => void>();

  constructor(t: Test) {
    this.#t = t;
  }

  start(
    signer: NodeSigner,
    given: { readonly leads?: boolean | (() => boolean); readonly isAlone?: boolean } = {},
  ): NodeKeys {
    const { leads = false, isAlone = false } = given;
    const keys = new NodeKeys({
      log: this.log,
      domain,
      signer,
      level: { level: () => this.level, subscribe: () => () => undefined },
      leadership: { isLeader: () => (typeof leads === 'function' ? leads() : leads), subscribe: () => () => undefined },
      isAlone,
      clock: this.clock,
      uuid: () => idOf(`event ${String((this.#ids += 1))}`),
      metadata: () => metadata,
      changes: {
        subscribe: (listener) => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
      },
      onAnew: () => this.anew.push(signer.key),
      onError: (error) => {
        throw error;
      },
    });
    this.#t.teardown(async () => {
      const stopped = keys.stop();
      this.clock.advance(keyRetryMs);
      await stopped;
    });
    keys.open();
    return keys;
  }

  /** Everybody folds what is new, and does what follows from it, for some time. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed <= ms; passed += keyRetryMs) {
      const events = await collect(this.log.readAll({ after: logStart }));
      for (const listener of this.#listeners) listener(events);
      await settled();
      this.clock.advance(keyRetryMs);
      await settled();
    }
  }

  async events(): Promise<readonly KeyEvent[]> {
    const events = await collect(this.log.readAll({ after: logStart }));
    return events.map((recorded) => decodeEvent(recorded).event as KeyEvent);
  }

  async chain(): Promise<KeyChain> {
    const chain = new KeyChain(domain);
    await readKeys(this.log, chain);
    return chain;
  }
}

test('the first key signs itself, and signs those of the nodes that come', async (t) => {
  const nodes = new Nodes(t);
  const [first, second, third] = [keyOf(1), keyOf(2), keyOf(3)];
  const leading = nodes.start(first, { leads: true });
  await nodes.pass(keyRetryMs);
  t.ok(leading.isTrusted());
  const others = [nodes.start(second), nodes.start(third)];
  await nodes.pass(6 * keyRetryMs);
  t.ok(others.every((keys) => keys.isTrusted()));
  const { trusted, waiting } = await nodes.chain();
  t.equal(trusted[0]?.by, first.key);
  t.strictSame(new Set(trusted.map(({ key }) => key)), new Set([first.key, second.key, third.key]));
  t.strictSame(waiting, []);
  const before = (await nodes.events()).length;
  await nodes.pass(keyAnewMs);
  t.equal((await nodes.events()).length, before, 'nothing more is appended');
  t.strictSame(nodes.anew, []);
});

test('a node that does not lead begins no chain: its key waits', async (t) => {
  const nodes = new Nodes(t);
  const waiting = nodes.start(keyOf(2));
  await nodes.pass(2 * keyAnewMs);
  t.match(waiting.hindrance(), /no trusted key has signed this node's key yet/u);
  t.strictSame((await nodes.chain()).waiting, [keyOf(2).key]);
  const leading = nodes.start(keyOf(1), { leads: true });
  await nodes.pass(4 * keyRetryMs);
  t.ok(leading.isTrusted() && waiting.isTrusted());
  t.equal(waiting.hindrance(), undefined);
});

test('if no node has a trusted key any more, the leader begins a chain, after others had time to sign', async (t) => {
  const nodes = new Nodes(t);
  const lost = nodes.start(keyOf(1), { leads: true });
  await nodes.pass(keyRetryMs);
  await lost.stop();
  const leading = nodes.start(keyOf(2), { leads: true });
  await nodes.pass(keyAnewMs - 2 * keyRetryMs);
  t.notOk(leading.isTrusted());
  await nodes.pass(4 * keyRetryMs);
  t.ok(leading.isTrusted());
  t.strictSame(nodes.anew, [keyOf(2).key]);
  const { trusted } = await nodes.chain();
  t.strictSame(
    trusted.map(({ key, by }) => key === by),
    [true, true],
    'both begin a chain',
  );
});

test('a leader that lost its leadership and gets it back gives others the whole time to sign again', async (t) => {
  const nodes = new Nodes(t);
  const lost = nodes.start(keyOf(1), { leads: true });
  await nodes.pass(keyRetryMs);
  await lost.stop();
  let leads = true;
  const leading = nodes.start(keyOf(2), { leads: () => leads });
  await nodes.pass(keyAnewMs - 2 * keyRetryMs);
  leads = false;
  await nodes.pass(keyAnewMs);
  leads = true;
  await nodes.pass(keyAnewMs - 2 * keyRetryMs);
  t.notOk(leading.isTrusted());
  t.strictSame(nodes.anew, []);
  await nodes.pass(4 * keyRetryMs);
  t.ok(leading.isTrusted());
});

test('the only node of a log begins a chain at once', async (t) => {
  const nodes = new Nodes(t);
  const first = nodes.start(keyOf(1), { leads: true, isAlone: true });
  await nodes.pass(0);
  t.ok(first.isTrusted());
  await first.stop();
  const second = nodes.start(keyOf(2), { leads: true, isAlone: true });
  await nodes.pass(0);
  t.ok(second.isTrusted());
  t.strictSame(nodes.anew, [keyOf(2).key]);
});

test('below the level of keys nothing is written', async (t) => {
  const nodes = new Nodes(t);
  nodes.level = treeLevel - 1;
  const keys = nodes.start(keyOf(1), { leads: true, isAlone: true });
  await nodes.pass(keyAnewMs);
  t.strictSame(await nodes.events(), []);
  t.notOk(keys.isTrusted());
  t.match(keys.hindrance(), /the log has level 2, and nodes sign from level 3 on/u);
});

test('an event with a wrong signature, or by a key that is not trusted, trusts no key', async (t) => {
  const [first, stranger, wanted] = [keyOf(1), keyOf(8), keyOf(9)];
  const signed = (key: string, by: NodeSigner, signer = by): KeyEvent => ({
    type: 'KeySigned',
    key,
    by: by.key,
    note: signer.vouch(domain, key),
  });
  const cases: readonly KeyEvent[] = [
    signed(wanted.key, stranger),
    signed(wanted.key, first, stranger),
    { ...signed(stranger.key, first), key: wanted.key },
    { type: 'KeySigned', key: wanted.key, by: first.key, note: first.vouch('other.example', wanted.key) },
    { type: 'KeySigned', key: wanted.key, by: first.key, note: 'no note' },
    { type: 'KeySigned', key: 'short', by: 'short', note: first.vouch(domain, 'short') },
    { type: 'KeyOffered', key: wanted.key, note: stranger.vouch(domain, wanted.key) },
  ];
  for (const event of cases) {
    const log = new MemoryLog();
    const events = [signed(first.key, first), event, signed(keyOf(2).key, first)];
    const proposed = events.map((one, index) => encodeEvent(idOf(String(index)), one, metadata));
    appended(await log.append(keysStream, proposed, 'absent'));
    const chain = new KeyChain(domain);
    await readKeys(log, chain);
    t.strictSame(
      [chain.trusted.map(({ key }) => key), chain.waiting],
      [[first.key, keyOf(2).key], []],
      JSON.stringify(event),
    );
  }
});
