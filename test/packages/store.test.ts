import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';

import { test, type Test } from 'tap';

import { decodeEvent } from '../../src/log/event-codec.ts';
import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { logStart, streamName, streamRevision, type EventLog } from '../../src/log/log.ts';
import { appendBytesMax } from '../../src/limits/log.ts';
import { packageChunkBytes } from '../../src/plugin/packages/package-limits.ts';
import { refOf } from '../../src/plugin/packages/package-log.ts';
import { Packages } from '../../src/plugin/packages/packages.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { quickClock } from '../support/clocks/quick-clock.ts';
import { manifestText, packageOf, zip } from './archives.ts';

async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'ledgerplane-packages-'));
  t.teardown(async () => rm(path, { recursive: true }));
  return path;
}

async function opened(root: string, log: EventLog): Promise<Packages> {
  const packages = new Packages(root, { log, clock: quickClock(), uuid: randomUUID, lastEventTime: () => 0 });
  await packages.open();
  return packages;
}

/** Three pieces, as nothing in it can be compressed. */
const large = zip([
  { name: 'plugin.yaml', content: manifestText('large') },
  { name: 'noise', content: randomBytes(2 * packageChunkBytes + 1_000), method: 0 },
]);

async function events(log: EventLog): Promise<readonly { readonly stream: string; readonly bytes: number }[]> {
  const all = [];
  for await (const batch of log.readAll({ after: logStart })) all.push(...batch);
  return all.map(({ stream, data, metadata }) => ({ stream, bytes: data.length + metadata.length }));
}

for (const kind of ['memory', 'LMDB'] as const) {
  test(`on a ${kind} log a package is kept in pieces, once, and read back on any node`, async (t) => {
    const log =
      kind === 'memory'
        ? new MemoryLog()
        : await openLmdbLog({
            dir: await folder(t),
            onFatal: (error) => {
              t.fail(String(error));
            },
          });
    t.teardown(async () => log.close());
    const packages = await opened(await folder(t), log);
    const ref = await packages.keep(large);
    t.same(ref, refOf(large));
    const kept = await events(log);
    t.same(
      kept.map(({ stream }) => stream),
      [0, 1, 2].map(() => `package:${ref.digest}`),
    );
    t.ok(
      kept.every(({ bytes }) => bytes + 'PackageChunk'.length < appendBytesMax),
      'each fits one append of EventStoreDB',
    );
    await packages.keep(large);
    await Promise.all([packages.keep(large), (await opened(await folder(t), log)).keep(large)]);
    t.equal((await events(log)).length, 3);

    const other = await opened(await folder(t), log);
    const [first, second] = await Promise.all([other.folderOf(ref), other.folderOf(ref)]);
    t.equal(first, second, 'a concurrent request shares the unpacking');
    t.match(first, { name: ref.digest, bundled: false });
    t.equal(await readFile(join(first.path, 'plugin.yaml'), 'utf8'), manifestText('large'));
  });
}

test('keeping that was interrupted goes on where it stopped, and two that keep at once write it once', async (t) => {
  const whole = new MemoryLog();
  const ref = await (await opened(await folder(t), whole)).keep(large);
  const [piece] = await whole.readStream(streamName(`package:${ref.digest}`), { from: streamRevision(0), limit: 1 });
  const log = new MemoryLog();
  await log.append(streamName(`package:${ref.digest}`), [piece!], 'absent');
  const [one, two] = [await opened(await folder(t), log), await opened(await folder(t), log)];
  await t.rejects(one.folderOf(ref), { name: 'PackageUnreadableError', message: /found 1 of 3 chunks/u });
  await Promise.all([one.keep(large), two.keep(large)]);
  t.equal((await events(log)).length, 3);
  await one.folderOf(ref);
  const decoded = await log.readStream(streamName(`package:${ref.digest}`), { from: streamRevision(0), limit: 9 });
  t.same(
    decoded.map((recorded) => {
      const { event } = decodeEvent(recorded);
      return event.type === 'PackageChunk' ? [event.index, event.count] : [];
    }),
    [
      [0, 3],
      [1, 3],
      [2, 3],
    ],
  );
});

test('what the log does not hold, or holds otherwise, is no package', async (t) => {
  const log = new MemoryLog();
  const packages = await opened(await folder(t), log);
  const ref = await packages.keep(packageOf('small'));
  await t.rejects(packages.folderOf({ digest: 'a'.repeat(64), bytes: 10 }), { name: 'PackageUnreadableError' });
  await t.rejects(packages.folderOf({ ...ref, bytes: ref.bytes - 1 }), { name: 'PackageUnreadableError' });
  await t.rejects(packages.folderOf({ ...ref, bytes: 1_000_000_000 }), {
    name: 'PackageUnreadableError',
    message: /the limit is/u,
  });
  const [chunk] = await log.readStream(streamName(`package:${ref.digest}`), { from: streamRevision(0), limit: 1 });
  const wrong = 'b'.repeat(64);
  await log.append(streamName(`package:${wrong}`), [{ ...chunk!, id: randomUUID() }], 'absent');
  await t.rejects(packages.folderOf({ digest: wrong, bytes: ref.bytes }), {
    name: 'PackageUnreadableError',
    message: /does not match the digest/u,
  });
});

test('a folder in the cache is used as long as it is as it was unpacked, and made anew otherwise', async (t) => {
  const [log, root] = [new MemoryLog(), await folder(t)];
  const ref = await (await opened(root, log)).keep(packageOf('small', { files: { 'lib/a.js': 'a' } }));
  const { path } = await (await opened(root, log)).folderOf(ref);
  t.equal(path, join(root, ref.digest));
  const unavailable = new MemoryLog();
  t.equal(
    (await (await opened(root, unavailable)).folderOf(ref)).path,
    path,
    'an unpacked package is found without the log',
  );

  for (const damage of [
    writeFile.bind(undefined, join(path, 'lib/a.js'), 'b'),
    rm.bind(undefined, join(path, 'plugin.yaml')),
    writeFile.bind(undefined, join(path, 'more.yaml'), ''),
    mkdir.bind(undefined, join(path, 'empty')),
  ]) {
    await damage();
    await (await opened(root, log)).folderOf(ref);
    t.same((await readdir(path, { recursive: true })).sort(), ['lib', 'lib/a.js', 'plugin.yaml']);
    t.equal(await readFile(join(path, 'lib/a.js'), 'utf8'), 'a');
  }
});

test('what a crash left and what no plugin names any more is removed, and nothing that is used', async (t) => {
  const [log, root] = [new MemoryLog(), await folder(t)];
  const packages = await opened(root, log);
  const refs = await Promise.all(['one', 'two', 'three'].map(async (name) => packages.keep(packageOf(name))));
  for (const ref of refs) await packages.folderOf(ref);
  await mkdir(join(root, '.unpacking-abc/package'), { recursive: true });
  const [one, two, three] = refs.map(({ digest }) => digest) as [string, string, string];

  const later = await opened(root, log);
  t.notOk((await readdir(root)).some((name) => name.startsWith('.')));
  await later.folderOf(refs[2]!);
  await later.retain([one]);
  t.same((await readdir(root)).sort(), [one, `${one}.sum`, three, `${three}.sum`].sort());
  await later.folderOf(refs[1]!);
  t.ok((await readdir(root)).includes(two), 'it is unpacked again when it is wanted again');
});

test('a removal that fails is reported, and packages are unpacked nevertheless', async (t) => {
  const [log, root] = [new MemoryLog(), await folder(t)];
  const packages = await opened(root, log);
  const ref = await packages.keep(packageOf('one'));
  await rm(root, { recursive: true });
  await t.rejects(packages.retain([]), { code: 'ENOENT' });
  await mkdir(root);
  t.match(await packages.folderOf(ref), { name: ref.digest });
  await packages.retain([ref.digest]);
});

test('a refused package leaves nothing', async (t) => {
  const root = await folder(t);
  const packages = await opened(root, new MemoryLog());
  t.match(await packages.stage(zip([{ name: '../x' }])), { ok: false });
  t.same(await readdir(root), []);
});
