import { test } from 'tap';

import type { EncodedFile } from '../../../src/http/console/encoded-file.ts';
import { FrontEnds } from '../../../src/http/console/front-ends.ts';
import { KeptFiles } from '../../../src/http/console/kept-files.ts';

const fileOf = (bytes: number): EncodedFile => ({
  bytes: Buffer.alloc(bytes),
  type: 'text/css',
  encoding: undefined,
  etag: '"a"',
  isHashed: true,
});

test('a file is loaded once for concurrent requests, and then kept', async (t) => {
  const kept = new KeptFiles(10);
  let loads = 0;
  const load = async (): Promise<EncodedFile> => Promise.resolve(((loads += 1), fileOf(4)));
  await Promise.all([kept.find('a', load), kept.find('a', load)]);
  t.equal((await kept.find('a', load))?.bytes.length, 4);
  t.equal(loads, 1);
  t.equal(kept.bytes, 4);
  kept.drop('b');
  t.equal(kept.bytes, 4);
  kept.drop('a');
  t.equal(kept.bytes, 0);
  await kept.find('a', load);
  t.equal(loads, 2);
});

test('beyond the limit, the files that were requested least recently are dropped', async (t) => {
  const kept = new KeptFiles(10);
  const loaded: string[] = [];
  const find = async (key: string, bytes = 4): Promise<unknown> =>
    kept.find(key, async () => Promise.resolve((loaded.push(key), fileOf(bytes))));
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await find(key);
  t.strictSame(loaded, ['a', 'b', 'c', 'b']);
  t.equal(kept.bytes, 8);
  await find('d', 11);
  t.equal(kept.bytes, 0, 'a file that is larger than the limit is not kept');
});

test('a file that was dropped while it was loaded does not count', async (t) => {
  const kept = new KeptFiles(10);
  const loading = kept.find('a/b', async () => Promise.resolve(fileOf(4)));
  kept.drop('a/');
  t.equal((await loading)?.bytes.length, 4);
  t.equal(kept.bytes, 0);
});

test('a front end serves a file again after a read has failed', async (t) => {
  const frontEnds = new FrontEnds();
  const contents = [undefined, Buffer.from('one')];
  const read = async (): Promise<Buffer | undefined> => Promise.resolve(contents.shift());
  frontEnds.mount('garden', '1.0.0', { digest: 'd', files: new Map([['index.js', { sha256: 'x', read }]]) });
  const find = async (): Promise<string | undefined> =>
    (await frontEnds.find({ plugin: 'garden', digest: 'd', name: 'index.js' }, () => true))?.bytes.toString();
  t.equal(await find(), undefined);
  t.equal(await find(), 'one');
  t.equal(await find(), 'one', 'and keeps it');
  frontEnds.unmount('garden');
  t.equal(await find(), undefined);
});
