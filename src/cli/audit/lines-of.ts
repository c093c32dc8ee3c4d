import { commandAnswerBytesMax } from '../../limits/settings.ts';
import { commandError, ConnectionFailure } from '../failure.ts';

/**
 * Yields the lines of a response body without their line feeds.
 *
 * @throws ConnectionFailure if the body ends within a line, and CommandFailure if a line is too long.
 */
export async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]);
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    const left = chunk.subarray(from);
    restBytes += left.length;
    if (restBytes > commandAnswerBytesMax)
      throw commandError(`a line of the response is longer than ${String(commandAnswerBytesMax)} bytes`);
    if (left.length > 0) rest.push(left);
  }
  if (restBytes > 0) throw new ConnectionFailure('the response ended within a line: the connection was lost');
}

const newline = 0x0a;
