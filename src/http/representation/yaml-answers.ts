import type { Clock } from '../../base/clock.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import { listTurnMs, yamlPieceBytesMax } from '../../limits/lists.ts';
import type { Answer } from '../answer.ts';
import { jsonType, yamlType } from '../body/media-types.ts';
import { YamlWriter } from './yaml-writer.ts';

/**
 * Converts responses from JSON to YAML, in pieces, at the speed at which clients read. All conversions share a part of
 * each turn of the event loop.
 */
export class YamlAnswers {
  readonly #turns: EventLoopTurns;

  constructor(clock: Clock) {
    this.#turns = new EventLoopTurns(clock, listTurnMs);
  }

  /** Converts a JSON response of the platform. Other responses are unchanged. `account` is for fair scheduling. */
  async of(answer: Answer, account: string): Promise<Answer> {
    if (answer.kind !== 'bytes' && answer.kind !== 'stream') return answer;
    if ((answer.contentType ?? jsonType) !== jsonType) return answer;
    if (answer.kind === 'stream')
      return { ...answer, chunks: this.#converted(answer.chunks, account), contentType: yamlType };
    const { status, bytes } = answer;
    const headers = withoutTag(answer.headers);
    if (bytes.length > yamlPieceBytesMax)
      return {
        kind: 'stream',
        status,
        headers,
        chunks: this.#converted([bytes], account),
        contentType: yamlType,
      };
    await this.#turns.next(account);
    return { ...answer, bytes: yamlOf(bytes), contentType: yamlType, headers };
  }

  async *#converted(
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    account: string,
  ): AsyncGenerator<Uint8Array> {
    const writer = new YamlWriter();
    for await (const chunk of chunks)
      for (let at = 0; at < chunk.length; at += yamlPieceBytesMax) {
        await this.#turns.next(account);
        yield writer.write(chunk.subarray(at, at + yamlPieceBytesMax));
      }
    yield writer.end();
  }
}

/** Converts a small document in one turn. */
export function yamlOf(json: Uint8Array): Buffer {
  const writer = new YamlWriter();
  return Buffer.concat([writer.write(json), writer.end()]);
}

/** Removes the entity tag, which identifies the bytes of the JSON. `headers` contains alternating names and values. */
export function withoutTag(headers: readonly string[]): readonly string[] {
  const tag = headers.indexOf('ETag');
  return tag === -1 ? headers : headers.toSpliced(tag, 2);
}
