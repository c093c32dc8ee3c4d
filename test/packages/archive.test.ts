import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import fc from 'fast-check';
import { test } from 'tap';

import { unpackArchive, type Unpacking } from '../../src/plugin/packages/package-archive.ts';
import { PackageContents } from '../../src/plugin/packages/package-contents.ts';
import {
  packageBytesMax,
  packageDepthMax,
  packageEntriesMax,
  packageFileBytesMax,
  packageNameBytesMax,
  packageUnpackedBytesMax,
} from '../../src/plugin/packages/package-limits.ts';
import { tar, tgz, zip, type Member } from './archives.ts';

const manifest: Member = { name: 'package/plugin.yaml', content: 'kind: Plugin\n' };
const makers = { tgz, zip };

type Tried = {
  readonly unpacking: Unpacking;
  readonly files: readonly string[];
  readonly outside: readonly string[];
  readonly folder: string;
};

/** Unpacks into a nested folder, so that files written beside it are visible. */
async function tried(archive: Buffer, look: (tried: Tried) => Promise<void> | void): Promise<void> {
  const around = await mkdtemp(join(tmpdir(), 'ledgerplane-archive-'));
  const folder = join(around, 'a', 'b');
  await mkdir(folder, { recursive: true });
  try {
    const unpacking = await unpackArchive(archive, folder);
    const files = (await readdir(folder, { recursive: true })).sort();
    const outside = [...(await readdir(around)), ...(await readdir(join(around, 'a')))].filter(
      (name) => !['a', 'b'].includes(name),
    );
    await look({ unpacking, files, outside, folder });
  } finally {
    await rm(around, { recursive: true });
  }
}

for (const [format, make] of Object.entries(makers)) {
  test(`a ${format} unpacks to its plain files and folders, with modes of our own`, async (t) => {
    const members: Member[] = [
      manifest,
      { name: 'package/lib/', kind: 'folder' },
      { name: 'package/lib/main.js', content: 'export default {};\n' },
      { name: 'package/node_modules/other/index.js', content: '' },
    ];
    await tried(make(members), async ({ unpacking, folder }) => {
      t.match(unpacking, { ok: true, root: join(folder, 'package'), entries: 7 });
      t.equal(await readFile(join(folder, 'package/lib/main.js'), 'utf8'), 'export default {};\n');
      t.equal(
        (await stat(join(folder, 'package/lib/main.js'))).mode & 0o7133,
        0,
        'neither executable nor writable for others',
      );
    });
  });

  test(`a ${format} may have its files at the top, or in a folder of any name`, async (t) => {
    await tried(
      make([
        { ...manifest, name: 'plugin.yaml' },
        { name: 'x/y', content: '1' },
      ]),
      ({ unpacking, folder }) => {
        t.match(unpacking, { ok: true, root: folder });
      },
    );
    await tried(make([{ ...manifest, name: './plugin.yaml' }]), ({ unpacking, folder }) => {
      t.match(unpacking, { ok: true, root: folder });
    });
    await tried(make([{ ...manifest, name: 'widgets-1.0/plugin.yaml' }]), ({ unpacking, folder }) => {
      t.match(unpacking, { ok: true, root: join(folder, 'widgets-1.0') });
    });
  });

  const refused: readonly (readonly [string, Member, string])[] = [
    ['an absolute path', { name: '/etc/cron', content: 'x' }, '"/etc/cron" is an absolute path'],
    ['a way out', { name: 'package/../../out', content: 'x' }, '"package/../../out" leads out of the package'],
    ['a way out by its folder', { name: '../', kind: 'folder' }, '"../" leads out of the package'],
    ['a backslash', { name: 'package\\..\\out', content: 'x' }, 'contains a backslash'],
    ['a drive letter', { name: 'C:/out', content: 'x' }, '"C:/out" begins with a drive letter'],
    ['a line break', { name: 'package/a\nb', content: 'x' }, 'is not valid text'],
    ['an empty name', { name: 'package//x', content: 'x' }, 'contains an empty name or "."'],
    ['a dot within', { name: 'package/./x', content: 'x' }, 'contains an empty name or "."'],
    [
      'a symbolic link',
      { name: 'package/link', kind: 'symlink', link: '/etc/passwd' },
      '"package/link" is a symbolic link',
    ],
    ['a device', { name: 'package/device', kind: 'device' }, '"package/device" is '],
    ['a pipe', { name: 'package/pipe', kind: 'pipe' }, '"package/pipe" is '],
    ['an entry twice', { name: 'package/plugin.yaml', content: 'x' }, '"package/plugin.yaml" is in the archive twice'],
    [
      'an entry twice but for case',
      { name: 'package/Plugin.yaml', content: 'x' },
      '"package/Plugin.yaml" and "package/plugin.yaml" are the same path',
    ],
    ['a folder twice but for case', { name: 'Package/x', content: 'x' }, 'are the same path'],
    [
      'a file that is a folder, too',
      { name: 'package/plugin.yaml/x', content: 'x' },
      '"package/plugin.yaml" is both a file and a folder',
    ],
    ['a folder that is a file, too', { name: 'package', content: 'x' }, '"package" is both a file and a folder'],
    [
      'a name that is too long',
      { name: `package/${'n'.repeat(packageNameBytesMax + 1)}`, content: 'x' },
      `contains a name longer than ${String(packageNameBytesMax)} bytes`,
    ],
    [
      'a path that is too long',
      { name: `package/${'abcdefgh/'.repeat(60)}x`, content: 'x' },
      'is longer than 512 bytes',
    ],
    [
      'a path that is too deep',
      { name: `package/${'a/'.repeat(packageDepthMax)}x`, content: 'x' },
      `has more than ${String(packageDepthMax)} path segments`,
    ],
  ];
  for (const [what, member, problem] of refused) {
    test(`a ${format} with ${what} is refused whole`, async (t) => {
      await tried(make([manifest, member]), ({ unpacking, outside }) => {
        t.equal(unpacking.ok, false);
        t.match(unpacking, { problem: new RegExp(escaped(problem), 'u') });
        t.same(outside, []);
      });
    });
  }

  test(`a ${format} is bounded in a file's bytes and in all of them`, async (t) => {
    const full = Buffer.alloc(packageFileBytesMax);
    await tried(make([manifest, { name: 'package/full', content: full }]), ({ unpacking }) => {
      t.equal(unpacking.ok, true);
    });
    await tried(
      make([manifest, { name: 'package/over', content: Buffer.alloc(packageFileBytesMax + 1) }]),
      ({ unpacking, files }) => {
        t.match(unpacking, { ok: false, problem: /"package\/over" has 16777217 bytes/u });
        t.notOk(files.includes('package/over'), 'nothing of it is written');
      },
    );
    const bomb = Array.from({ length: Math.floor(packageUnpackedBytesMax / packageFileBytesMax) + 1 }, (_, index) => ({
      name: `package/b${String(index)}`,
      content: full,
    }));
    await tried(make([manifest, ...bomb]), ({ unpacking }) => {
      t.match(unpacking, { ok: false, problem: /unpacks to more than 104857600 bytes/u });
    });
  });
}

test('a package is bounded in files and folders, implied ones included', async (t) => {
  const contents = new PackageContents();
  contents.admit('package/plugin.yaml', 'file', 1);
  for (let index = 2; index < packageEntriesMax; index += 1) contents.admit(`package/f${String(index)}`, 'file', 0);
  t.equal(contents.entries, packageEntriesMax);
  t.throws(() => contents.admit('package/more', 'file', 0), { message: /has more than 10000 files and folders/u });
  const many = Array.from({ length: packageEntriesMax + 1 }, (_, index) => ({ name: `f${String(index)}` }));
  await tried(zip(many), ({ unpacking, files }) => {
    t.match(unpacking, { ok: false, problem: /has more than 10000 files and folders/u });
    t.same(files, [], 'nothing of it is written');
  });
});

test('a hard link in a tarball is refused', async (t) => {
  await tried(
    tgz([manifest, { name: 'package/hard', kind: 'hardlink', link: 'package/plugin.yaml' }]),
    ({ unpacking }) => {
      t.match(unpacking, { ok: false, problem: /"package\/hard" is a hard link/u });
    },
  );
});

test('a zip that is encrypted, or compressed by another method, is refused', async (t) => {
  await tried(zip([manifest, { name: 'package/secret', encrypted: true }]), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /"package\/secret" is encrypted/u });
  });
  await tried(zip([manifest, { name: 'package/other', method: 12 }]), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /"package\/other" uses an unsupported compression method/u });
  });
});

test('a zip with an entry larger than declared is refused', async (t) => {
  await tried(zip([manifest, { name: 'package/liar', content: 'x'.repeat(100_000), claims: 10 }]), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /damaged/u });
  });
});

test('a name with NUL is refused', async (t) => {
  await tried(zip([manifest, { name: 'package/a\0b' }]), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /contains a NUL character/u });
  });
});

test('a file that is not a package is refused', async (t) => {
  await tried(Buffer.from('hello'), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /neither a gzipped tarball nor a zip/u });
  });
  await tried(Buffer.alloc(0), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /neither/u });
  });
  await tried(gzipSync('hello'), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /not a tarball/u });
  });
  await tried(gzipSync(tgz([manifest])), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /not a tarball/u });
  });
  await tried(tgz([{ name: 'package/index.js', content: '' }]), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /has no plugin\.yaml/u });
  });
  await tried(tgz([manifest, { name: 'README', content: '' }]), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /has no plugin\.yaml/u });
  });
  await tried(zip([]), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /has no plugin\.yaml/u });
  });
  await tried(Buffer.concat([tgz([manifest]), Buffer.alloc(packageBytesMax)]), ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /a package has at most 20971520 bytes/u });
  });
});

test('an endless gzip of nothing ends at the bound', async (t) => {
  const nothing = gzipSync(Buffer.concat([tar([manifest]), Buffer.alloc(packageUnpackedBytesMax + 40_000_000)]));
  await tried(nothing, ({ unpacking }) => {
    t.match(unpacking, { ok: false, problem: /unpacks to more than/u });
  });
});

const runs = Number(process.env['PBT_RUNS'] ?? 60);
const seed = process.env['PBT_SEED'] === undefined ? {} : { seed: Number(process.env['PBT_SEED']) };
const plainName = fc.stringMatching(/^[a-z]{1,8}$/u);
const members = fc
  .uniqueArray(fc.tuple(plainName, fc.string()), { selector: ([name]) => name, maxLength: 8 })
  .map((pairs) =>
    pairs
      .filter(([name]) => name !== 'plugin')
      .map(([name, content]): Member => ({ name: `package/${name}.js`, content })),
  );
const bad: fc.Arbitrary<Member> = fc.oneof(
  fc
    .constantFrom('../', '../../', 'package/../../')
    .chain((way) => plainName.map((name) => ({ name: `${way}${name}`, content: 'x' }))),
  plainName.map((name) => ({ name: `/${name}`, content: 'x' })),
  plainName.map((name): Member => ({ name: `package/${name}`, kind: 'symlink', link: '../../..' })),
  plainName.map((name) => ({ name: `package\\${name}`, content: 'x' })),
  fc.constant({ name: 'package/PLUGIN.YAML', content: 'x' }),
);

test('an archive with one bad entry anywhere is refused, and nothing is written outside', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(tgz, zip), members, bad, fc.nat(), async (make, good, one, at) => {
      const all: Member[] = [manifest, ...good];
      all.splice(1 + (at % all.length), 0, one);
      await tried(make(all), ({ unpacking, outside }) => {
        if (unpacking.ok || outside.length > 0)
          throw new Error(`${JSON.stringify(one)}: ${JSON.stringify({ unpacking, outside })}`);
      });
    }),
    { numRuns: runs, ...seed },
  );
});

test('damaged bytes are an answer and never an error', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(tgz, zip),
      members,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      fc.option(fc.nat()),
      async (make, good, changes, cut) => {
        const archive = Buffer.from(make([manifest, ...good]));
        for (const [at, byte] of changes) archive[at % archive.length] = byte;
        await tried(cut === null ? archive : archive.subarray(0, cut % archive.length), ({ outside }) => {
          if (outside.length > 0) throw new Error(`written outside: ${outside.join(', ')}`);
        });
      },
    ),
    { numRuns: runs * 2, ...seed },
  );
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
}
