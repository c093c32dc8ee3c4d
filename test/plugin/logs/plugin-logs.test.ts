import fc from 'fast-check';
import { pino } from 'pino';
import { test } from 'tap';

import { pluginLogBytesMax, pluginLogLineBytesMax, pluginLogsBytesMax } from '../../../src/limits/plugins.ts';
import { PluginLogs } from '../../../src/plugin/logs/plugin-logs.ts';
import { recordedLoggerOf } from '../../../src/server/plugin-logger.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';

const time = Date.parse('2030-01-01T00:00:00Z');

type Shown = { readonly message: string; readonly fields?: unknown; readonly isShortened?: boolean };

function shown(logs: PluginLogs, plugin: string, after?: string): readonly Shown[] {
  return (logs.read(plugin, after)?.lines ?? []).map((line) => JSON.parse(Buffer.from(line).toString()) as Shown);
}

/** A line of exactly this size. */
function lineOf(bytes: number): { readonly time: number; readonly level: string; readonly message: string } {
  const empty = JSON.stringify({ time: new Date(time).toISOString(), level: 'info', message: '' }).length;
  return { time, level: 'info', message: 'x'.repeat(bytes - empty) };
}

test('lines are read in order, and from a cursor on', (t) => {
  const logs = new PluginLogs('first');
  t.equal(logs.read('notes', undefined), undefined);
  logs.record('notes', { time, level: 'info', message: 'one', fields: { size: 1 } });
  const cursor = logs.read('notes', undefined)?.cursor;
  logs.record('notes', { time, level: 'warn', message: 'two' });
  t.same(shown(logs, 'notes'), [
    { time: '2030-01-01T00:00:00.000Z', level: 'info', message: 'one', fields: { size: 1 } },
    { time: '2030-01-01T00:00:00.000Z', level: 'warn', message: 'two' },
  ]);
  t.same(
    shown(logs, 'notes', cursor).map(({ message }) => message),
    ['two'],
  );
  t.same(shown(logs, 'notes', logs.read('notes', cursor)?.cursor), []);
  for (const other of ['second.1', 'first.', 'first.-1', 'first.9e9', 'first', ''])
    t.equal(shown(logs, 'notes', other).length, 2, `the cursor ${JSON.stringify(other)} is of no line of this process`);
  t.equal(shown(logs, 'notes', 'first.99').length, 0);
  t.end();
});

test('a plugin keeps the newest lines up to its limit, and a reader learns how many it missed', (t) => {
  const logs = new PluginLogs('first');
  const size = pluginLogBytesMax / 64;
  for (let count = 0; count < 64; count += 1) logs.record('notes', lineOf(size));
  t.equal(logs.read('notes', undefined)?.lines.length, 64, 'the limit itself');
  t.equal(logs.read('notes', undefined)?.dropped, 0);
  logs.record('notes', { time, level: 'info', message: 'one more' });
  t.equal(logs.read('notes', undefined)?.lines.length, 64, 'the oldest line is dropped for one more');
  t.equal(logs.read('notes', 'first.0')?.dropped, 1);
  t.equal(logs.read('notes', 'first.1')?.dropped, 0);
  t.end();
});

test('past the limit of all plugins the largest one loses lines', (t) => {
  const logs = new PluginLogs('first');
  const plugins = pluginLogsBytesMax / pluginLogBytesMax;
  const size = pluginLogBytesMax / 64;
  for (let plugin = 0; plugin < plugins; plugin += 1)
    for (let count = 0; count < 64; count += 1) logs.record(`p${String(plugin)}`, lineOf(size));
  t.equal(logs.read('p0', undefined)?.lines.length, 64, 'the limit itself');
  logs.record('quiet', lineOf(200));
  t.equal(logs.read('quiet', undefined)?.lines.length, 1);
  const left = Array.from({ length: plugins }, (_, plugin) => logs.read(`p${String(plugin)}`, undefined)?.lines.length);
  t.equal(
    left.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    plugins * 64 - 1,
  );
  t.end();
});

test('a long line is shortened, and values that JSON cannot represent are named', (t) => {
  const logs = new PluginLogs('first');
  logs.record('notes', lineOf(pluginLogLineBytesMax));
  logs.record('notes', lineOf(pluginLogLineBytesMax + 1));
  logs.record('notes', { time, level: 'info', message: '\u0000'.repeat(100_000), fields: { a: 'b' } });
  logs.record('notes', { time, level: 'info', message: 'big', fields: { big: 1n } });
  const [whole, longer, escaped, big] = shown(logs, 'notes');
  t.equal(whole?.isShortened, undefined);
  t.equal(longer?.isShortened, true);
  t.equal(escaped?.isShortened, true);
  t.match(big?.fields, /not shown: .*BigInt/u);
  for (const line of logs.read('notes', undefined)?.lines ?? []) t.ok(line.length <= pluginLogLineBytesMax);
  t.end();
});

test('a reader that follows the cursor sees each kept line once, in order', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 20 }), (batches) => {
      const logs = new PluginLogs('first');
      const seen: string[] = [];
      let cursor: string | undefined;
      let next = 0;
      for (const batch of batches) {
        for (let count = 0; count < batch; count += 1) {
          logs.record('notes', { time, level: 'info', message: String(next) });
          next += 1;
        }
        seen.push(...shown(logs, 'notes', cursor).map(({ message }) => message));
        cursor = logs.read('notes', cursor)?.cursor;
      }
      return seen.join() === Array.from({ length: next }, (_, index) => String(index)).join();
    }),
  );
  t.end();
});

test('a plugin may log messages and fields of any kind', (t) => {
  const written: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => written.push(line) });
  const logs = new PluginLogs('first');
  const logger = recordedLoggerOf(log, { logs, clock: new FakeClock(), plugin: 'notes', inSources: (stack) => stack });
  const unprintable = {
    toString: (): string => {
      throw new Error('no text');
    },
  };
  const odd: readonly (readonly [message: unknown, fields: unknown])[] = [
    ['no fields', null],
    ['a text instead of fields', 'size'],
    [unprintable, { size: 1 }],
    [Object.create(null), undefined],
    ['a big integer', { size: 1n }],
  ];
  for (const [message, fields] of odd) logger.info(message as string, fields as Record<string, unknown>);
  t.equal(written.length, odd.length, 'each line is written');
  t.equal(shown(logs, 'notes').length, odd.length, 'and recorded');
  t.end();
});
