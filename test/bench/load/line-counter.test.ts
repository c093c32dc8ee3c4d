import { test } from 'tap';

import { LineCounter } from '../../../bench/load/line-counter.ts';

function chunked(parts: readonly string[]): Buffer {
  const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  return Buffer.from(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}`);
}

test('lines are counted across chunks and reads, and empty lines are not', (t) => {
  const bytes = chunked(['{"n":1}\n{"n"', ':2}\n', '\n', '{"n":3}', '\n']);
  for (const size of [1, 7, bytes.length]) {
    let [lines, ends] = [0, 0];
    const counter = new LineCounter({
      line: () => {
        lines += 1;
      },
      end: () => {
        ends += 1;
      },
    });
    counter.kept = [];
    for (let at = 0; at < bytes.length; at += size) counter.read(bytes.subarray(at, at + size));
    t.strictSame([lines, ends], [3, 0], `reads of ${String(size)} bytes`);
    t.equal(Buffer.concat(counter.kept).toString('utf8'), '{"n":1}\n{"n":2}\n\n{"n":3}\n');
    counter.read(Buffer.from('0\r\n\r\n'));
    t.strictSame([lines, ends], [3, 1], 'the last chunk ends the watch');
  }
  t.end();
});
