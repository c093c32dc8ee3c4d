import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { LoadMarks } from '../../../src/plugin/load/load-marks.ts';

const files = { plugin: 'p', digest: 'a', generation: 1 };

function processes(t: Test): { readonly dir: string; readonly warnings: string[]; readonly next: () => LoadMarks } {
  const dir = join(t.testdir(), 'marks');
  const warnings: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message: string) => {
      warnings.push(message);
    },
    error: () => undefined,
  };
  let boots = 0;
  return { dir, warnings, next: () => new LoadMarks(dir, `boot ${String((boots += 1))}`, log) };
}

test('files are not loaded a third time after two processes ended during their load', async (t) => {
  const { dir, next } = processes(t);
  t.equal(next().begin(files), undefined);
  t.equal(next().begin(files), undefined);
  t.match(next().begin(files), { reason: 'LoadUnfinished', message: /ended 2 times.*plugin enable p/u });
  t.match(next().begin(files), { reason: 'LoadUnfinished' }, 'and not later either');
  t.equal(next().begin({ ...files, plugin: 'q' }), undefined, 'another plugin is another matter');
  t.equal(statSync(dir).mode & 0o777, 0o700);
  for (const name of readdirSync(dir)) t.equal(statSync(join(dir, name)).mode & 0o777, 0o600);
});

test('a finished load, successful or not, and a clean shutdown leave no mark', async (t) => {
  const { dir, next } = processes(t);
  for (let boot = 0; boot < 5; boot += 1) {
    const marks = next();
    t.equal(marks.begin(files), undefined);
    t.same(readdirSync(dir), ['p']);
    if (boot % 2 === 0) marks.end('p');
    else marks.close();
    t.same(readdirSync(dir), []);
  }
});

test('repeated loads of one process count once', async (t) => {
  const { next } = processes(t);
  const marks = next();
  for (let load = 0; load < 5; load += 1) t.equal(marks.begin(files), undefined);
  t.equal(next().begin(files), undefined);
});

test('other files, or a change of the object, are loaded again', async (t) => {
  for (const change of [{ digest: 'b' }, { generation: 2 }]) {
    const { next } = processes(t);
    next().begin(files);
    next().begin(files);
    t.equal(next().begin({ ...files, ...change }), undefined);
    t.equal(next().begin({ ...files, ...change }), undefined, 'twice, like any');
    t.match(next().begin({ ...files, ...change }), { reason: 'LoadUnfinished' });
  }
});

test('an object that is not known yet is assumed to be the marked one', async (t) => {
  const { next } = processes(t);
  const unknown = { ...files, generation: undefined };
  next().begin(unknown);
  next().begin(files);
  t.match(next().begin(unknown), { reason: 'LoadUnfinished' });
  t.match(next().begin(files), { reason: 'LoadUnfinished' });
  t.equal(next().begin({ ...files, generation: 2 }), undefined);
});

test('an unreadable mark counts as none, and a failed write of a mark does not prevent the load', async (t) => {
  const { dir, next, warnings } = processes(t);
  mkdirSync(dir);
  for (const text of ['', '{', '[]', '{"digest":1}', '{"digest":"a","boots":[1]}', '\u0000']) {
    writeFileSync(join(dir, 'p'), text);
    t.equal(next().begin(files), undefined, JSON.stringify(text));
  }
  t.same(warnings, []);
  const blocked = new LoadMarks(join(dir, 'p', 'inside a file'), 'boot', {
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => {
      warnings.push(message);
    },
    error: () => undefined,
  });
  t.equal(blocked.begin(files), undefined);
  t.match(warnings, [/cannot write the mark/u]);
  t.doesNotThrow(() => {
    blocked.end('p');
  });
});
