import { test } from 'tap';

import { hookMs, slowHookLogMs } from '../../src/limits/rules.ts';
import { TypeRegistry } from '../../src/plugin/registry/type-registry.ts';
import { convert } from '../../src/resource/type/versions/convert.ts';
import { WatchedConversions } from '../../src/write/conversion-watch.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { widget, widgetType } from '../support/sample.ts';

/** A type with two versions, of which each call of a function takes `time.ms`. */
function slowType(clock: FakeClock, time: { ms: number; isFailing: boolean }) {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { title: { type: 'string' } } } },
  };
  const run = (object: object): object => {
    clock.advance(time.ms);
    if (time.isFailing) throw new Error('broken');
    return object;
  };
  return widgetType({
    schema,
    indexes: [],
    versions: [
      { name: 'v1alpha1', schema, examples: [{ spec: { title: 'One' } }] },
      { name: 'v1', examples: [{ spec: { title: 'One' } }] },
    ],
    convert: [{ from: 'v1alpha1', to: 'v1', up: run, down: run }],
  });
}

test('a conversion over its time is counted, and logged once a minute', async (t) => {
  const clock = new FakeClock();
  const time = { ms: 0, isFailing: false };
  const lines: (readonly [string, string, Readonly<Record<string, unknown>>])[] = [];
  const conversions = new WatchedConversions({ clock, warn: (...line) => lines.push(line) });
  const registry = new TypeRegistry();
  conversions.follow(registry);
  const type = slowType(clock, time);
  registry.register(type);
  const up = (): unknown => convert(widget({ apiVersion: 'example.com/v1alpha1' }), type);
  time.ms = hookMs;
  t.match(up(), { ok: true });
  t.strictSame(conversions.counts(), []);
  time.ms = hookMs + 1;
  t.match(up(), { ok: true });
  time.isFailing = true;
  t.match(up(), { ok: false }, 'a call that throws is measured as well');
  t.equal(lines.length, 1);
  const names = { type: 'widgets.example.com', conversion: 'v1alpha1 to v1' };
  t.match(lines[0], ['example', /conversion .* took too long/u, { ...names, ms: hookMs + 1, limitMs: hookMs }]);
  clock.advance(slowHookLogMs);
  up();
  t.equal(lines.length, 2);
  t.strictSame(conversions.counts(), [{ plugin: 'example', ...names, slow: 3 }]);
  const alpha = type.versions?.served.find(({ version }) => version === 'v1alpha1');
  time.isFailing = false;
  if (alpha !== undefined) convert(widget(), alpha);
  t.match(conversions.counts()[1], { conversion: 'v1 to v1alpha1', slow: 1 });
});

test('types that are registered before are measured as well', async (t) => {
  const clock = new FakeClock();
  const time = { ms: 0, isFailing: false };
  const registry = new TypeRegistry();
  const type = slowType(clock, time);
  registry.register(type);
  const conversions = new WatchedConversions({ clock, warn: () => undefined });
  conversions.follow(registry);
  time.ms = hookMs + 1;
  convert(widget({ apiVersion: 'example.com/v1alpha1' }), type);
  t.match(conversions.counts(), [{ slow: 1 }]);
});
