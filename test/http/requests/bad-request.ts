import { connect } from 'node:net';

import { resetSocket } from '../../support/reset-socket.ts';

/** A request that must be refused, as bytes: no HTTP library would send most of them. */
export type BadRequest = {
  /** The kind of wrongness, for the report. */
  readonly what: string;
  /** Written one after another. */
  readonly chunks: readonly Uint8Array[];
  /** What may answer it. `cut`: the connection may end without an answer, as the client itself has gone. */
  readonly statuses: readonly (number | 'cut')[];
  /** The client's half of the connection ends once all is written, or the client vanishes. */
  readonly ending: 'none' | 'half' | 'gone';
};

export type Answer = { readonly status: number; readonly head: string; readonly body: string };

const answerMsMax = 20_000;

/** All that comes back until the connection closes. */
export async function exchange(port: number, { what, chunks, ending }: BadRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: false }, () => {
      for (const chunk of chunks) socket.write(chunk);
      if (ending === 'half') socket.end();
      if (ending === 'gone')
        socket.write('', () => {
          resetSocket(socket);
        });
    });
    socket.setTimeout(answerMsMax, () => {
      socket.destroy(new Error(`${what}: neither an answer nor an end`));
    });
    socket.on('data', (chunk) => {
      received.push(chunk);
    });
    // The server may close while much is still to be written to it.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === undefined) reject(error);
    });
    socket.on('close', () => {
      resolve(Buffer.concat(received));
    });
  });
}

/** The answers in the received text; `undefined` for a text that is not HTTP. */
export function answersIn(received: Buffer): readonly Answer[] | undefined {
  const answers: Answer[] = [];
  let rest = received;
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const head = rest.subarray(0, headEnd === -1 ? 0 : headEnd).toString('latin1');
    const status = /^HTTP\/1\.1 (\d{3}) /u.exec(`${head} `)?.[1];
    if (status === undefined) return undefined;
    const length = Number(/^content-length: *(\d+)$/imu.exec(head)?.[1] ?? 0);
    const bodyStart = headEnd + 4;
    if (status !== '100')
      answers.push({
        status: Number(status),
        head,
        body: rest.subarray(bodyStart, bodyStart + length).toString('utf8'),
      });
    rest = rest.subarray(bodyStart + length);
  }
  return answers;
}

/** What an answer lacks of a refusal's two forms (decision 8); undefined for a whole one. */
export function lackOf({ status, head, body }: Answer): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'its body is no JSON';
  }
  const members = new Map(Object.entries(value as object));
  const missing = ['type', 'title', 'detail', 'instance', 'reason', 'requestId', 'timestamp'].find(
    (member) => typeof members.get(member) !== 'string',
  );
  if (missing !== undefined) return `its body has no ${missing}`;
  const isPure = /^content-type: application\/problem\+json/imu.test(head);
  if (!isPure && (members.get('kind') !== 'Status' || members.get('status') !== 'Failure'))
    return 'its body is no Status';
  return members.get(isPure ? 'status' : 'code') === status ? undefined : 'its body has another status';
}

/** The code of the close frame at the end of what a WebSocket sent. */
export function closeCodeIn(received: Buffer): number | undefined {
  const at = received.lastIndexOf(0x88);
  return at === -1 || at + 4 > received.length ? undefined : received.readUInt16BE(at + 2);
}
