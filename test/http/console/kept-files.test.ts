import { test } from 'tap';

import { FrontEnds } from '../../../src/http/console/front-ends.ts';
import { KeptFiles } from '../../../src/http/console/kept-files.ts';
import type { WebFile } from '../../../src/plugin/api/front-end.ts';

/** Files of a folder whose reads are counted. */
function folderOf(sizes: Readonly<Record<string, number>>, folder = 'a/') {
  const reads: string[] = [];
  const files = new Map<string, WebFile>(
    Object.entries(sizes).map(([name, bytes]) => [
      name,
      { bytes, read: async () => Promise.resolve((reads.push(name), Buffer.alloc(bytes))) },
    ]),
  );
  const request = (name: string) => ({ folder, files, name, accepts: () => false, isHashed: true });
  return { reads, request };
}

test('a file is loaded once for concurrent requests, and then kept', async (t) => {
  const kept = new KeptFiles(10);
  const { reads, request } = folderOf({ 'one.css': 4 });
  await Promise.all([kept.find(request('one.css')), kept.find(request('one.css'))]);
  t.match(await kept.find(request('one.css')), { bytes: Buffer.alloc(4), type: /^text\/css/u, isHashed: true });
  t.strictSame(reads, ['one.css']);
  t.equal(kept.bytes, 4);
  kept.drop('b');
  t.equal(kept.bytes, 4);
  kept.drop('a');
  t.equal(kept.bytes, 0);
  await kept.find(request('one.css'));
  t.equal(reads.length, 2);
});

test('only known names with a known type are files, in the encoding that the client accepts', async (t) => {
  const kept = new KeptFiles(100);
  const { request } = folderOf({ 'one.js': 4, 'one.js.gz': 2, 'one.js.br': 1, 'two.txt': 4 });
  t.equal(await kept.find(request('none.js')), undefined);
  t.equal(await kept.find(request('two.txt')), undefined);
  t.equal(await kept.find(request('one.js.gz')), undefined, 'a compressed form is no file of its own');
  const accepting = async (...names: readonly string[]) =>
    (await kept.find({ ...request('one.js'), accepts: (name) => names.includes(name) }))?.encoding;
  t.equal(await accepting(), undefined);
  t.equal(await accepting('gzip'), 'gzip');
  t.equal(await accepting('gzip', 'br'), 'br');
});

test('beyond the limit, the files that were requested least recently are dropped', async (t) => {
  const kept = new KeptFiles(10);
  const { reads, request } = folderOf({ 'a.js': 4, 'b.js': 4, 'c.js': 4, 'd.js': 11 });
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await kept.find(request(`${name}.js`));
  t.strictSame(reads, ['a.js', 'b.js', 'c.js', 'b.js']);
  t.equal(kept.bytes, 8);
  t.equal((await kept.find(request('d.js')))?.bytes.length, 11);
  t.equal(kept.bytes, 0, 'a file that is larger than the limit is not kept');
});

test('a file that was dropped while it was loaded does not stay', async (t) => {
  const kept = new KeptFiles(10);
  const loading = kept.find(folderOf({ 'b.js': 4 }).request('b.js'));
  kept.drop('a/');
  t.equal((await loading)?.bytes.length, 4);
  t.equal(kept.bytes, 0);
});

test('loads under way count, and further loads wait for them', async (t) => {
  const kept = new KeptFiles(10);
  const { request } = folderOf({ 'old.js': 6 }, 'b/');
  await kept.find(request('old.js'));
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const held = (name: string, bytes: number): [string, WebFile] => [
    name,
    {
      bytes,
      read: async () =>
        new Promise((resolve) => {
          started.push(name);
          ends.set(name, () => {
            resolve(Buffer.alloc(bytes));
          });
        }),
    },
  ];
  const files = new Map([held('a.js', 6), held('b.js', 4), held('c.js', 4)]);
  const find = async (name: string) => kept.find({ ...request(name), folder: 'a/', files });
  const [a, b, c] = [find('a.js'), find('b.js'), find('c.js')];
  t.strictSame(started, ['a.js', 'b.js']);
  t.equal(kept.bytes, 10, 'a kept file makes room');
  ends.get('b.js')?.();
  t.equal((await b)?.bytes.length, 4);
  t.strictSame(started, ['a.js', 'b.js', 'c.js']);
  t.equal(kept.bytes, 10);
  ends.get('a.js')?.();
  ends.get('c.js')?.();
  t.equal((await a)?.bytes.length, 6);
  t.equal((await c)?.bytes.length, 4);
  t.equal(kept.bytes, 10);
});

test('a front end serves a file again after a read has failed', async (t) => {
  const frontEnds = new FrontEnds(new KeptFiles(10));
  const contents = [undefined, Buffer.from('one')];
  const read = async (): Promise<Buffer | undefined> => Promise.resolve(contents.shift());
  const file = { bytes: 3, sha256: 'x', read };
  frontEnds.mount('garden', '1.0.0', { digest: 'd', files: new Map([['index.js', file]]) });
  const find = async (): Promise<string | undefined> =>
    (await frontEnds.find({ plugin: 'garden', digest: 'd', name: 'index.js' }, () => true))?.bytes.toString();
  t.equal(await find(), undefined);
  t.equal(await find(), 'one');
  t.equal(await find(), 'one', 'and keeps it');
  frontEnds.unmount('garden');
  t.equal(await find(), undefined);
});
