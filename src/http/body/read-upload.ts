import type { IncomingMessage } from 'node:http';

import { Busboy, type BusboyFileStream } from '@fastify/busboy';

import { messageOf } from '../../base/error-message.ts';
import type { Clock } from '../../base/clock.ts';
import { headerOf } from '../exchange.ts';
import { problem, type Problem, type ProblemResult } from '../problem.ts';
import type { Body } from './read-body.ts';
import { uploadLookBytesMin, uploadLookMs, uploadSlowLooksMax } from '../plugin-routes/route-limits.ts';

export type UploadRules = {
  /** The form field with the file. The form must not have other fields. */
  readonly field: string;
  readonly bytesMax: number;
  readonly clock: Clock;
};

/** The most bytes around the file: boundaries and part headers. */
const framingBytesMax = 16_384;
/**
 * The rest of a refused upload is dropped, up to this multiple of the limit. Most clients read the response only after
 * they have sent the whole body.
 */
const drainedTimes = 2;

/**
 * Reads the single file of a `multipart/form-data` body into memory. A body that arrives too slowly is refused within
 * seconds, because an upload occupies a slot.
 */
export async function readUpload(req: IncomingMessage, rules: UploadRules): Promise<Body<Uint8Array>> {
  const contentType = headerOf(req, 'content-type');
  if (contentType?.split(';', 1)[0]?.trim().toLowerCase() !== 'multipart/form-data') {
    return refused(
      'unsupported-media-type',
      'the body must be multipart/form-data with the file in its field ' +
        `${JSON.stringify(rules.field)}, but the Content-Type is ${JSON.stringify(contentType ?? 'missing')}`,
    );
  }
  const encoding = headerOf(req, 'content-encoding');
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    return refused(
      'unsupported-media-type',
      `the body must not have a Content-Encoding, but has ${JSON.stringify(encoding)}`,
    );
  if (Number(req.headers['content-length'] ?? 0) > rules.bytesMax + framingBytesMax) return tooLarge(rules);
  let parser: Busboy;
  try {
    parser = new Busboy({
      headers: { ...req.headers, 'content-type': contentType },
      // The limits are above the allowed numbers, so that the parser reports a violation instead of ignoring excess
      // parts.
      limits: {
        fileSize: rules.bytesMax + 1,
        files: 2,
        fields: 1,
        parts: 3,
        fieldSize: 1_024,
        headerPairs: 32,
        headerSize: framingBytesMax,
      },
    });
  } catch (error) {
    return refused('bad-request', `the body cannot be read as multipart/form-data: ${messageOf(error)}`);
  }
  return parsed(req, parser, rules);
}

type Busboy = InstanceType<typeof Busboy>;

async function parsed(req: IncomingMessage, parser: Busboy, rules: UploadRules): Promise<Body<Uint8Array>> {
  return new Promise((resolve) => {
    const file = new UploadedFile(rules);
    let received = 0;
    const settle = (body: Body<Uint8Array>): void => {
      progress.cancel();
      req.off('close', goneAway);
      req.unpipe(parser);
      // Drops the rest: a client that is still sending does not read the response.
      req.resume();
      resolve(body);
    };
    // `close` also follows a complete request. Then the result of the parser is used.
    const goneAway = (): void => {
      if (!req.complete) settle({ ok: false, problem: undefined });
    };
    const progress = watchProgress(
      rules.clock,
      () => received,
      () => {
        settle(stalled());
      },
    );
    req.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > drainedTimes * rules.bytesMax + framingBytesMax) req.destroy();
      else if (received > rules.bytesMax + framingBytesMax) settle(tooLarge(rules));
    });
    parser.on('file', (name: string, stream: BusboyFileStream) => {
      file.take(name, stream);
    });
    parser.on('field', (name: string) => {
      file.refuse(`the body has the field ${JSON.stringify(name)}, which is not a file`);
    });
    parser.on('error', (error: unknown) => {
      settle(refused('bad-request', `the body cannot be read as multipart/form-data: ${messageOf(error)}`));
    });
    parser.on('finish', () => {
      settle(file.body());
    });
    req.once('close', goneAway);
    req.on('error', goneAway);
    req.pipe(parser);
  });
}

/**
 * Checks the speed of the upload at intervals, and calls `onStall` after several slow intervals in a row. This process
 * itself may cause a single slow interval.
 */
function watchProgress(clock: Clock, received: () => number, onStall: () => void): { cancel(): void } {
  let before = received();
  let slowLooks = 0;
  const checkSpeed = (): void => {
    const now = received();
    slowLooks = now - before < uploadLookBytesMin ? slowLooks + 1 : 0;
    before = now;
    if (slowLooks < uploadSlowLooksMax) timer = clock.after(uploadLookMs, checkSpeed);
    else onStall();
  };
  let timer = clock.after(uploadLookMs, checkSpeed);
  return {
    cancel: () => {
      timer.cancel();
    },
  };
}

class UploadedFile {
  readonly #rules: UploadRules;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isThere = false;
  #problem: string | undefined;

  constructor(rules: UploadRules) {
    this.#rules = rules;
  }

  take(name: string, stream: BusboyFileStream): void {
    const { field, bytesMax } = this.#rules;
    if (name !== field)
      this.refuse(`the body has the field ${JSON.stringify(name)}, expected the file in ${JSON.stringify(field)}`);
    else if (this.#isThere) this.refuse('the body has more than one file');
    const isWanted = this.#problem === undefined;
    this.#isThere ||= name === field;
    stream.on('data', (chunk: Buffer) => {
      if (!isWanted) return;
      this.#bytes += chunk.length;
      if (this.#bytes <= bytesMax) this.#chunks.push(chunk);
    });
    stream.on('error', (error: Error) => {
      this.refuse(error.message);
    });
  }

  refuse(detail: string): void {
    this.#problem ??= detail;
  }

  body(): Body<Uint8Array> {
    if (this.#problem !== undefined) return refused('bad-request', this.#problem);
    if (!this.#isThere)
      return refused('bad-request', `the body has no file in its field ${JSON.stringify(this.#rules.field)}`);
    return this.#bytes > this.#rules.bytesMax
      ? tooLarge(this.#rules)
      : { ok: true, value: Buffer.concat(this.#chunks) };
  }
}

function tooLarge({ bytesMax }: UploadRules): Body<never> {
  return refused('body-too-large', `a file must be at most ${String(bytesMax)} bytes`);
}

/** Closes the connection after the response, so that the server does not wait for the rest of the body. */
function stalled(): Body<never> {
  const detail =
    `the upload is too slow: the server requires at least ${String(uploadLookBytesMin)} bytes ` +
    `every ${String(uploadLookMs / 1_000)} s`;
  return { ok: false, problem: problem('request-timeout', detail, { headers: ['Connection', 'close'] }) };
}

function refused(reason: Problem['reason'], detail: string): ProblemResult {
  return { ok: false, problem: problem(reason, detail) };
}
