import { test } from 'tap';

import { BodyBuffer } from '../../../src/http/body/body-buffer.ts';

test('a body is the same for any split into chunks, and takes at most twice its bytes', (t) => {
  const whole = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  for (const size of [1, 7, 1_024, 65_536, 100_000]) {
    const buffer = new BodyBuffer(1_048_576);
    let added = 0;
    for (let start = 0; start < whole.length; start += size) {
      const piece = whole.subarray(start, start + size);
      added += buffer.growthFor(piece);
      buffer.add(piece);
    }
    t.ok(added <= 2 * whole.length, `${String(added)} bytes are taken`);
    t.ok(buffer.bytes().equals(whole), `pieces of ${String(size)}`);
  }
  t.equal(new BodyBuffer(10).bytes().length, 0);
  const exact = new BodyBuffer(6);
  for (const piece of ['abc', 'def']) exact.add(Buffer.from(piece));
  t.equal(exact.bytes().toString(), 'abcdef');
  t.end();
});
