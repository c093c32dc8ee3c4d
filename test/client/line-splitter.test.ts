import fc from 'fast-check';
import { test } from 'tap';

import { lineBytesMax, LineSplitter } from '../../src/client/line-splitter.ts';

test('lines are the same wherever their bytes are split', async (t) => {
  const line = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('\n', '') || 'x');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 9 })), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((each) => `${each}\n`).join('\n'));
      const splitter = new LineSplitter();
      const found: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes.length === 0 ? 1 : sizes[turn % sizes.length]!;
        found.push(...splitter.push(bytes.subarray(at, at + size)));
        at += size;
      }
      t.strictSame(found, lines);
    }),
  );
});

test('a line without its end is kept back', async (t) => {
  const splitter = new LineSplitter();
  t.strictSame(splitter.push(Buffer.from('one\n\n\ntw')), ['one']);
  t.strictSame(splitter.push(Buffer.from('o')), []);
  t.strictSame(splitter.push(Buffer.from('\nthree')), ['two']);
});

test('a line has a bound, not past it', async (t) => {
  const most = 'x'.repeat(lineBytesMax);
  t.equal(new LineSplitter().push(Buffer.from(`${most}\n`))[0]?.length, lineBytesMax);
  t.throws(() => new LineSplitter().push(Buffer.from(`${most}x`)), /longer than 4194304 bytes/u);
  const splitter = new LineSplitter();
  const feed = (): void => {
    for (;;) splitter.push(Buffer.alloc(65_536, 'y'));
  };
  t.throws(feed, /longer than 4194304 bytes/u, 'also when it never ends');
});

test('malformed UTF-8 is refused', async (t) => {
  t.throws(() => new LineSplitter().push(Buffer.from([0x7b, 0xff, 0x0a])), /not UTF-8/u);
});
