import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';

export const transports = ['json', 'sse', 'websocket'] as const;
export type Transport = (typeof transports)[number];

export type WatchedEvent = {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly metadata: { readonly name?: string };
    readonly code?: number;
    readonly [member: string]: unknown;
  };
};

/** A client's watch over one of the three transports. It keeps all received events. */
export class Watching {
  readonly transport: Transport;
  readonly texts: string[] = [];
  /** The close code of an ended WebSocket; 0 for another stream that has ended. */
  closed: number | undefined;
  #leave: () => void = () => undefined;
  #woken: () => void = () => undefined;

  private constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Resolves when the server has accepted the watch. Rejects if the server refuses it. */
  static async open(
    origin: string,
    path: string,
    { transport, headers = {} }: { readonly transport: Transport; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Watching> {
    const watching = new Watching(transport);
    await (transport === 'websocket'
      ? watching.#socket(origin, path, headers)
      : watching.#stream(origin, path, headers));
    return watching;
  }

  get events(): readonly WatchedEvent[] {
    return this.texts.map((text) => JSON.parse(text) as WatchedEvent);
  }

  /** The received events, each as `TYPE name`. */
  get story(): readonly string[] {
    return this.events.map(
      ({ type, object }) => `${type} ${object.kind ?? ''} ${object.metadata.name ?? String(object.code ?? '')}`,
    );
  }

  async until(holds: (watching: this) => boolean): Promise<void> {
    while (!holds(this)) {
      if (this.closed !== undefined) throw new Error(`the watch has ended: ${this.story.join(', ')}`);
      await this.#news();
    }
  }

  async ended(): Promise<number> {
    while (this.closed === undefined) await this.#news();
    return this.closed;
  }

  leave(): void {
    this.#leave();
  }

  async #news(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#woken = resolve;
    });
  }

  #end(code: number): void {
    this.closed ??= code;
    this.#woken();
  }

  async #socket(origin: string, path: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const socket = new WebSocket(`${origin.replace('http:', 'ws:')}${path}`, { headers });
    this.#leave = () => {
      socket.terminate();
    };
    socket.on('message', (bytes: Buffer) => {
      this.texts.push(bytes.toString('utf8'));
      this.#woken();
    });
    socket.on('close', (code) => {
      this.#end(code);
    });
    await once(socket, 'open');
    socket.on('error', () => undefined);
  }

  async #stream(origin: string, path: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const isSse = this.transport === 'sse';
    const { hostname, port } = new URL(origin);
    const req = request({
      host: hostname,
      port,
      path: isSse ? path : `${path}${path.includes('?') ? '&' : '?'}watch=true`,
      agent: false,
      headers: { ...(isSse ? { accept: 'text/event-stream' } : {}), ...headers },
    });
    this.#leave = () => {
      req.destroy();
    };
    req.end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    req.on('error', () => undefined);
    if (res.statusCode !== 200) throw new Error(`the watch was refused with ${String(res.statusCode)}`);
    let rest = '';
    res
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        this.texts.push(
          ...lines
            .filter((line) => (isSse ? line.startsWith('data:') : line !== ''))
            .map((line) => (isSse ? line.slice('data:'.length).trim() : line)),
        );
        this.#woken();
      })
      .on('error', () => undefined)
      .on('close', () => {
        this.#end(0);
      });
  }
}
