import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { test } from 'tap';

import { bytesAnswer, type Answer } from '../../../src/http/answer.ts';
import { YamlAnswers } from '../../../src/http/representation/yaml-answers.ts';
import { yamlPieceBytesMax } from '../../../src/limits/lists.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';

const small = bytesAnswer(Buffer.from('{"kind":"Widget"}'));
const large = bytesAnswer(Buffer.from(JSON.stringify({ kind: 'x'.repeat(10 * yamlPieceBytesMax) })));

async function read(answer: Answer): Promise<string> {
  if (answer.kind === 'bytes') return Buffer.from(answer.bytes).toString();
  if (answer.kind !== 'stream') throw new Error(answer.kind);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.chunks) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('accounts take turns at the conversion of their answers', async (t) => {
  const answers = new YamlAnswers(new FakeClock());
  const order: string[] = [];
  const convert = async (answer: Answer, account: string): Promise<void> => {
    const text = await read(await answers.of(answer, account));
    t.match(text, /^kind: /u);
    order.push(account);
  };
  const many = Array.from({ length: 20 }, async () => convert(small, 'user:a'));
  await Promise.all([...many, convert(small, 'user:b')]);
  t.strictSame(order.slice(0, 3), ['user:a', 'user:b', 'user:a']);
  t.equal(order.length, 21);
});

test('the pieces of many long answers of one account delay another by a turn', async (t) => {
  const answers = new YamlAnswers(new FakeClock());
  const order: string[] = [];
  const convert = async (answer: Answer, account: string): Promise<void> => {
    await read(await answers.of(answer, account));
    order.push(account);
  };
  const many = Array.from({ length: 20 }, async () => convert(large, 'user:a'));
  await Promise.all([...many, convert(small, 'user:b')]);
  t.equal(order[0], 'user:b');
});

test('a stream that is not JSON is sent as it is, also to clients that prefer YAML', async (t) => {
  const answers = new YamlAnswers(new FakeClock());
  const lines = '{"kind":"Export"}\n{"kind":"End"}\n';
  for (const bytes of [Buffer.from(lines), gzipSync(lines)]) {
    const chunks = Readable.from([bytes]);
    const answer = await answers.of({ kind: 'stream', chunks, contentType: 'application/jsonl' }, 'user:a');
    t.match(answer, { contentType: 'application/jsonl' });
    const read: Uint8Array[] = [];
    if (answer.kind === 'stream') for await (const chunk of answer.chunks) read.push(chunk);
    t.strictSame(Buffer.concat(read), bytes);
  }
});
