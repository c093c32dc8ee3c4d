import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { transport } from '../transport.ts';

/** One answer as it came over the wire. */
export type WireAnswer = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

export type Wire = {
  readonly answers: readonly WireAnswer[];
  /** The bytes after the last complete answer. */
  readonly rest: string;
};

/** Every whole answer in `text`, in order. `isHead` says which of them have no body. */
export function readAnswers(text: string, isHead: (place: number) => boolean = () => false): Wire {
  const answers: WireAnswer[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1 || !rest.startsWith('HTTP/1.1 ')) return { answers, rest };
    const [line = '', ...fields] = rest.slice(0, headEnd).split('\r\n');
    const status = Number(line.split(' ')[1]);
    const headers = new Map(
      fields.map((field) => {
        const colon = field.indexOf(':');
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }),
    );
    const after = rest.slice(headEnd + 4);
    const isInterim = status < 200;
    const hasNone = isInterim || isHead(answers.length) || status === 204 || status === 304;
    const body = hasNone ? { text: '', bytes: 0 } : bodyOf(after, headers);
    if (body === undefined) return { answers, rest };
    if (!isInterim || status === 101) answers.push({ status, headers, body: body.text });
    rest = after.slice(body.bytes);
  }
}

type WireBody = { readonly text: string; readonly bytes: number };

/** Undefined while it is not whole. */
function bodyOf(text: string, headers: ReadonlyMap<string, string>): WireBody | undefined {
  if (headers.get('transfer-encoding') !== 'chunked') {
    const bytes = Number(headers.get('content-length') ?? 0);
    return text.length < bytes ? undefined : { text: text.slice(0, bytes), bytes };
  }
  let [bytes, body] = [0, ''];
  for (;;) {
    const lineEnd = text.indexOf('\r\n', bytes);
    const length = lineEnd === -1 ? NaN : parseInt(text.slice(bytes, lineEnd), 16);
    if (!(text.length >= lineEnd + 4 + length)) return undefined;
    body += text.slice(lineEnd + 2, lineEnd + 2 + length);
    bytes = lineEnd + 4 + length;
    if (length === 0) return { text: body, bytes };
  }
}

/** A raw connection: sends bytes unchanged, keeps received ones as Latin-1. */
export class RawConnection {
  readonly socket: Socket;
  text = '';
  isClosed = false;
  #wake: () => void = () => undefined;

  constructor(port: number) {
    const target = { port, host: '127.0.0.1', allowHalfOpen: true };
    const socket =
      transport.certificate === undefined ? connect(target) : connectTls({ ...target, rejectUnauthorized: false });
    this.socket = socket.setNoDelay(true).setEncoding('latin1');
    this.socket.on('data', (chunk: string) => {
      this.text += chunk;
      this.#wake();
    });
    this.socket.on('error', () => undefined);
    this.socket.on('end', () => {
      this.socket.end();
    });
    this.socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  /** Sends the parts as separate reads of the server: each goes out once the one before has been taken. */
  async send(...parts: readonly string[]): Promise<void> {
    if (this.socket.connecting) await once(this.socket, 'connect').catch(() => undefined);
    for (const [index, part] of parts.entries()) {
      if (index > 0)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      await new Promise((resolve) => {
        this.socket.write(part, 'latin1', resolve);
      });
    }
  }

  /** Resolves when what came fulfils `isEnough`, or the connection is closed. */
  async until(isEnough: (text: string) => boolean): Promise<string> {
    while (!isEnough(this.text) && !this.isClosed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.text;
  }

  async closed(): Promise<string> {
    return this.until(() => false);
  }
}
