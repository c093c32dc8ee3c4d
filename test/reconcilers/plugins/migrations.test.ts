import { test } from 'tap';

import type { MigrationRecord } from '../../../src/plugin/api/migration-mounts.ts';
import { decodeMetadata } from '../../../src/log/event-codec.ts';
import { migrationRecheckMs, migrationRecordMs } from '../../../src/limits/plugins.ts';
import { merge, remove } from '../../support/given.ts';
import { shown } from '../../support/writing.ts';
import { migration, MigrationStage, sizing, withStatus } from './migration-stage.ts';

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `w${String(index).padStart(4, '0')}`);

test('every stored object is migrated once, and the end is recorded', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(names(600));
  await stage.fill(['x'], { size: 7 });
  await stage.run(sizing);
  t.same(
    [stage.spec('w0000'), stage.spec('w0599')],
    [
      { title: 'w0000', size: 1 },
      { title: 'w0599', size: 1 },
    ],
  );
  t.same(stage.spec('x'), { title: 'x', size: 7 });
  t.same(stage.records, [
    { id: 'set-size', type: 'widgets.example.com', phase: 'done', objects: 601, visited: 601, changed: 600, failed: 0 },
  ]);
  t.equal((await stage.writing.events('w0000')).length, 2);
  t.equal((await stage.writing.events('x')).length, 1, 'an object in the new form is not written');
  t.same(stage.migrations.of('example'), { running: [], failures: [] });
  t.same(stage.errors, []);
});

test('a migration that is done does not run again, while the plugin declares it', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(['a']);
  await stage.run(sizing);
  await stage.fill(['b']);
  await stage.run(sizing);
  stage.leadership.lead(false);
  stage.leadership.lead(true);
  await stage.idle();
  t.same(stage.spec('b'), { title: 'b' });
  t.same(stage.written, ['running', 'done'], 'nothing is recorded again');
  await stage.run();
  t.same(stage.records, [], 'a version without it forgets it');
  await stage.run(sizing);
  t.same(stage.spec('b'), { title: 'b', size: 1 });
});

test('a leader with other files than the declared ones records nothing until its own are declared', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(['a'], { size: 7 });
  stage.declare(false);
  const newer = [
    { id: 'newer', type: 'widgets.example.com', phase: 'done', objects: 1, visited: 1, changed: 1, failed: 0 },
  ];
  stage.records = newer as MigrationRecord[];
  await stage.run(sizing);
  t.same([stage.records, stage.written], [newer, []], 'the records of the declared files remain');
  await stage.fill(['b']);
  stage.declare(true);
  await stage.idle();
  t.same(stage.spec('b'), { title: 'b', size: 1 });
  t.match(stage.records, [{ id: 'set-size', phase: 'done', objects: 2 }]);
});

test('a pass that ends under another declaration is not recorded as done', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(['a'], { size: 7 });
  let isFirst = true;
  const late = migration('late', () => {
    if (isFirst) stage.declare(false);
    isFirst = false;
    return undefined;
  });
  await stage.run(late);
  t.match(stage.records, [{ id: 'late', phase: 'running' }]);
  stage.declare(true);
  await stage.idle();
  t.match(stage.records, [{ id: 'late', phase: 'done' }]);
});

test('the events name the plugin, and the upgrade as their cause', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(['w1']);
  await stage.run(sizing);
  t.match(decodeMetadata((await stage.writing.recorded('w1'))[1]!), {
    actor: 'plugin:example',
    verb: 'update',
    plugin: 'example',
    requestId: 'request-1',
    $causationId: 'upgrade',
    $correlationId: 'request',
  });
});

test('an object whose step fails is named, the others go on, and a change of it tries again', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(names(300));
  const picky = migration('pick', ({ title, size }) => {
    if (title === 'w0007' || title === 'w0003') throw new Error(`not ${title}`);
    return size === undefined ? { size: 1 } : undefined;
  });
  await stage.run(picky);
  t.match(stage.migrations.of('example'), {
    running: [],
    failures: [{ id: 'pick', count: 2, name: 'w0003', problem: 'threw: not w0003', trace: /not w0003/u, waiting: [] }],
  });
  t.match(stage.records, [{ phase: 'failing', visited: 300, changed: 298, failed: 2 }]);
  t.match(stage.lines, [['a migration fails for an object; later failures are only counted', { migration: 'pick' }]]);
  t.equal(stage.lines.length, 1);

  shown(await stage.writing.write(merge({ spec: { title: 'good' } }, { name: 'w0003' })));
  await stage.idle();
  t.same(stage.spec('w0003'), { title: 'good', size: 1 });
  t.match(stage.migrations.of('example').failures, [{ count: 1, name: 'w0007' }]);
  shown(await stage.writing.write(remove({}, 'w0007')));
  await stage.idle();
  t.match(stage.records, [{ phase: 'done', changed: 299, failed: 0 }]);
});

test('a result that its type refuses fails, and leaves the object as it is', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(['w1']);
  const shrink = migration('shrink', ({ title }) => (title === '' ? undefined : { title: '' }));
  await stage.run(shrink);
  t.match(stage.migrations.of('example').failures, [
    { name: 'w1', problem: /^the result is refused: \/spec\/title must not have fewer than 1/u },
  ]);
  t.same(stage.spec('w1'), { title: 'w1' });
});

test('a later migration of the type waits until no object fails in an earlier one', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(['a', 'bad']);
  const first = migration('first', ({ title, size }) => {
    if (title === 'bad') throw new Error('bad');
    return size === undefined ? { size: 1 } : undefined;
  });
  const second = migration('second', ({ size, serial }) =>
    serial === undefined ? { serial: `from ${String(size)}` } : undefined,
  );
  await stage.run(first, second);
  t.same(stage.spec('a'), { title: 'a', size: 1 }, 'the second did not run');
  t.match(stage.migrations.of('example').failures, [{ id: 'first', count: 1, waiting: ['second'] }]);
  t.match(stage.records, [{ phase: 'failing' }, { phase: 'waiting' }]);
  shown(await stage.writing.write(remove({}, 'bad')));
  await stage.idle();
  t.same(stage.spec('a'), { title: 'a', size: 1, serial: 'from 1' });
  t.match(stage.records, [{ phase: 'done' }, { phase: 'done' }]);
});

test('a new leader continues after the last recorded object', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(names(600));
  const visited: string[] = [];
  let stop = false;
  const counted = migration('count', ({ size }, { metadata }) => {
    visited.push(metadata.name);
    if (metadata.name === 'w0300' && !stop) {
      stop = true;
      stage.leadership.lead(false);
    }
    return size === undefined ? { size: 1 } : undefined;
  });
  // Time passes, so that the progress is recorded after each page.
  const passing = migration('count', (_spec, object) => {
    stage.writing.clock.advance(migrationRecordMs / 256 + 1);
    return counted.up(object) === undefined ? undefined : { size: 1 };
  });
  await stage.run(passing);
  t.match(stage.records, [{ phase: 'running', after: 'w0255', visited: 256, cause: { id: 'upgrade' } }]);
  visited.length = 0;
  stage.leadership.lead(true);
  await stage.idle();
  t.equal([...visited].sort()[0], 'w0256', 'the objects before are not visited again');
  t.match(stage.records, [{ phase: 'done', objects: 600, visited: 600 }]);
  for (const name of names(600)) t.match(stage.spec(name), { size: 1 });
  t.equal((await stage.writing.events('w0300')).length, 2, 'no object is changed twice');
});

test('a concurrent write is kept: the step runs on the object after it', async (t) => {
  const written = new Set<string>();
  const stage: MigrationStage = await MigrationStage.open(t, {
    through: (execute) => async (type, command, context) => {
      if (command.type === 'replace' && !written.has(command.name)) {
        written.add(command.name);
        await execute(type, merge({ spec: { serial: `of ${command.name}` } }, { name: command.name }), context);
      }
      return execute(type, command, context);
    },
  });
  await stage.fill(['a', 'b']);
  await stage.run(sizing);
  t.same(stage.spec('a'), { title: 'a', serial: 'of a', size: 1 });
  t.same(stage.spec('b'), { title: 'b', serial: 'of b', size: 1 });
});

test('an unavailable log interrupts a migration, which then continues', async (t) => {
  let fails = 3;
  const stage = await MigrationStage.open(t, {
    through: (execute) => async (type, command, context) => {
      fails -= 1;
      return fails >= 0
        ? { ok: false, rejection: { reason: 'unavailable', detail: 'away', retryAfterSeconds: 1, lasts: true } }
        : execute(type, command, context);
    },
  });
  await stage.fill(['a', 'b', 'c']);
  await stage.run(sizing);
  t.match(stage.records, [{ phase: 'done', failed: 0 }]);
  t.same(stage.spec('c'), { title: 'c', size: 1 });
  t.ok(stage.errors.length > 0);
});

test('a migration whose end cannot be recorded runs again', async (t) => {
  const stage = await MigrationStage.open(t);
  stage.isRecordless = true;
  stage.migrations.mount('example', [sizing], undefined);
  while (stage.errors.length === 0) await stage.writing.settle(Promise.resolve());
  t.match(stage.errors, [/could not record the progress of migrations/u]);
  stage.isRecordless = false;
  await stage.idle();
  t.match(stage.records, [{ phase: 'done' }]);
});

test('a status with its own subresource is migrated too', async (t) => {
  const stage = await MigrationStage.open(t, { type: withStatus });
  await stage.fill(['a']);
  shown(await stage.writing.write(merge({ status: { phase: 'old' } }, { name: 'a', part: 'status' })));
  const type = { group: 'example.com', version: 'v1', plural: 'widgets' };
  const up = (object: unknown): unknown => {
    const given = object as { readonly spec: object; readonly status?: { readonly phase?: string } };
    return given.status?.phase === 'old'
      ? { ...given, spec: { ...given.spec, size: 1 }, status: { phase: 'new' } }
      : given;
  };
  await stage.run({ id: 'both', type, up });
  t.match(stage.writing.object('a'), { spec: { title: 'a', size: 1 }, status: { phase: 'new' } });
  t.match(stage.records, [{ phase: 'done', changed: 1 }]);
});

test('while objects fail, all are visited again from time to time', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(['a']);
  let isBad = true;
  const moody = migration('moody', ({ size }) => {
    if (isBad) throw new Error('not now');
    return size === undefined ? { size: 1 } : undefined;
  });
  await stage.run(moody);
  t.match(stage.records, [{ phase: 'failing' }]);
  isBad = false;
  stage.writing.clock.advance(migrationRecheckMs);
  await stage.idle();
  t.match(stage.records, [{ phase: 'done' }]);
});

test('a slow step is counted, and logged once a minute', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(['a', 'b']);
  const slow = migration('slow', ({ size }) => {
    stage.writing.clock.advance(6);
    return size === undefined ? { size: 1 } : undefined;
  });
  await stage.run(slow);
  t.match(stage.lines, [
    ['a step of a migration took too long: all other requests had to wait', { migration: 'slow' }],
  ]);
  t.equal(stage.lines.length, 1);
});

test('an unmounted plugin is migrated no further', async (t) => {
  const stage = await MigrationStage.open(t);
  await stage.fill(names(50));
  stage.migrations.mount('example', [sizing], undefined);
  await stage.writing.settle(stage.migrations.unmount('example'));
  const before = (await stage.writing.recorded()).length;
  await stage.idle();
  t.equal((await stage.writing.recorded()).length, before);
  t.same(stage.migrations.of('example'), { running: [], failures: [] });
});
