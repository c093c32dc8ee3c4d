import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';

import { FrameCounter, clientFrame } from './frame-counter.ts';
import { LineCounter } from './line-counter.ts';
import { openSocket, type Target } from './socket.ts';

export type WatchersOptions = Target & {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sockets: number;
  /** A change is a message of a WebSocket, or a line of a response. The default is `websocket`. */
  readonly transport?: 'websocket' | 'lines';
};

/** Counts the messages in the bytes of one connection, and stores the messages on request. */
type Counter = { read(chunk: Buffer): void; kept: Buffer[] | undefined };

/**
 * Many watches on bare sockets. Counts the received messages, and records for each k when the last socket has
 * received its k-th message.
 */
export class Watchers {
  readonly #sockets: Socket[] = [];
  readonly #counters: Counter[] = [];
  /** The number of messages of each socket. */
  readonly #counts: number[] = [];
  /** For each k, the number of sockets that have received their k-th message. */
  readonly #arrived: number[] = [];
  /** For each k, the time at which the last socket received its k-th message. */
  readonly completedAt: number[] = [];
  #now = 0;
  #failure: Error | undefined;
  #closing = false;
  #wanted = Infinity;
  #settle: ((failure?: Error) => void) | undefined;
  messages = 0;

  async open(options: WatchersOptions): Promise<void> {
    // Connects one socket after another, because a burst of a thousand handshakes is not part of the measured case.
    for (let index = 0; index < options.sockets; index += 1) await this.#openOne(options, index);
  }

  #openOne(options: WatchersOptions, index: number): Promise<void> {
    const { transport = 'websocket' } = options;
    return new Promise((resolve, reject) => {
      const socket = openSocket(options, () => {
        socket.write(headOf(options), 'latin1');
      });
      this.#sockets[index] = socket;
      this.#counts[index] = 0;
      const counter = (this.#counters[index] = this.#counter(transport, index, socket));
      let answer: Buffer | undefined = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        this.#now = performance.now();
        if (answer === undefined) {
          counter.read(chunk);
          return;
        }
        answer = Buffer.concat([answer, chunk]);
        const end = answer.indexOf('\r\n\r\n');
        if (end === -1) return;
        const text = answer.toString('latin1', 0, end);
        const rest = answer.subarray(end + 4);
        const counted = transport === 'lines' ? answer : rest;
        answer = undefined;
        if (!text.startsWith(transport === 'lines' ? 'HTTP/1.1 200 ' : 'HTTP/1.1 101 '))
          reject(new Error(`a watch returned ${text.slice(0, 200)} ${rest.toString('utf8').slice(0, 300)}`));
        else resolve();
        if (counted.length > 0) counter.read(counted);
      });
      socket.once('error', reject).once('close', () => {
        if (!this.#closing) this.#fail(new Error(`watcher ${index.toString()} lost its connection`));
      });
    });
  }

  #counter(transport: 'websocket' | 'lines', index: number, socket: Socket): Counter {
    const message = (): void => {
      this.#message(index);
    };
    if (transport === 'lines')
      return new LineCounter({
        line: message,
        end: () => {
          this.#fail(new Error(`the server ended the watch ${index.toString()}`));
        },
      });
    return new FrameCounter({
      message,
      ping: (payload) => {
        socket.write(clientFrame(10, payload));
      },
      close: (code) => {
        this.#fail(new Error(`a watcher was closed with ${code.toString()}`));
      },
    });
  }

  /** Stores the messages that the first socket receives from now on. */
  keepFirst(): Buffer[] {
    const kept: Buffer[] = [];
    const [counter] = this.#counters;
    if (counter !== undefined) counter.kept = kept;
    return kept;
  }

  /** Resolves once every socket has received `count` messages. */
  async all(count: number, timeoutMs: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isComplete(count)) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const least = this.#counts.reduce((low, value) => Math.min(low, value), Infinity);
        reject(
          new Error(
            `after ${timeoutMs.toString()} ms, a watcher has only ${least.toString()} of ${count.toString()} messages`,
          ),
        );
      }, timeoutMs);
      this.#wanted = count;
      this.#settle = (failure) => {
        clearTimeout(timer);
        this.#settle = undefined;
        if (failure === undefined) resolve();
        else reject(failure);
      };
    });
  }

  /** The lowest and the highest number of messages of a socket. */
  range(): readonly [number, number] {
    return [
      this.#counts.reduce((low, value) => Math.min(low, value), Infinity),
      this.#counts.reduce((high, value) => Math.max(high, value), 0),
    ];
  }

  close(): void {
    this.#closing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #message(index: number): void {
    this.messages += 1;
    const ordinal = this.#counts[index] ?? 0;
    this.#counts[index] = ordinal + 1;
    const arrived = (this.#arrived[ordinal] ?? 0) + 1;
    this.#arrived[ordinal] = arrived;
    if (arrived !== this.#sockets.length) return;
    this.completedAt[ordinal] = this.#now;
    if (ordinal + 1 === this.#wanted) this.#settle?.();
  }

  #isComplete(count: number): boolean {
    return count === 0 || this.completedAt[count - 1] !== undefined;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#settle?.(this.#failure);
  }
}

function headOf({ path, headers, transport = 'websocket' }: WatchersOptions): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (transport === 'websocket')
    lines.push(
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n`,
    );
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
