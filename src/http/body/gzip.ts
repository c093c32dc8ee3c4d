import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';

/** Returns whether Accept-Encoding allows gzip (RFC 9110, 12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const codings = (acceptEncoding ?? '').toLowerCase().split(',');
  const qualities = new Map(
    codings.map((coding) => {
      const [name = '', ...parameters] = coding.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return [name, quality === undefined ? 1 : Number(quality.slice(2))];
    }),
  );
  return (qualities.get('gzip') ?? qualities.get('x-gzip') ?? qualities.get('*') ?? 0) > 0;
}

/** Compresses in a thread of Node's pool, at the speed of the reader. If the reader stops early, `chunks` ends too. */
export async function* gzipped(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip();
  // `pipeline` passes an error of `chunks` to the reader of `gzip`.
  pipeline(chunks, gzip, () => undefined);
  const compressed: AsyncIterable<Uint8Array> = gzip;
  try {
    yield* compressed;
  } finally {
    gzip.destroy();
  }
}
