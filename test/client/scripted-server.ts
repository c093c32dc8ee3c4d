import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

import type { Clock } from '../../src/base/clock.ts';
import { delay, systemClock } from '../../src/base/clock.ts';
import { connect, type ConnectOptions, type PluginObject, type RemoteClient } from '../../src/client/client.ts';

export const thing = { group: 'things.example', version: 'v1', plural: 'things' } as const;
export const silenceMs = 30_000;

/** One request, and how its answer goes on. */
export type Asked = {
  readonly url: URL;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly response: ServerResponse;
  /** Sends one event. */
  readonly event: (type: string, object: object) => void;
  readonly json: (status: number, body: object, headers?: Readonly<Record<string, string>>) => void;
};

/** A real HTTP server with the answers of the test. */
export class ScriptedServer {
  readonly url: string;
  readonly requests: Asked[] = [];
  readonly #waiting: ((asked: Asked) => void)[] = [];
  readonly #unseen: Asked[] = [];

  private constructor(server: Server) {
    this.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    server.on('request', (request, response) => {
      const asked: Asked = {
        url: new URL(request.url ?? '', this.url),
        method: request.method ?? '',
        headers: request.headers,
        response,
        event: (type, object) => response.write(`${JSON.stringify({ type, object })}\n`),
        json: (status, body, headers = {}) =>
          response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body)),
      };
      this.requests.push(asked);
      const next = this.#waiting.shift();
      if (next === undefined) this.#unseen.push(asked);
      else next(asked);
    });
  }

  static async start(t: Test): Promise<ScriptedServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    return new ScriptedServer(server);
  }

  client(options: Partial<ConnectOptions> = {}): RemoteClient {
    return connect({ url: this.url, chance: () => 0.5, silenceMs, ...options });
  }

  /** The next request, in order. */
  async asked(): Promise<Asked> {
    const unseen = this.#unseen.shift();
    return unseen ?? new Promise((resolve) => this.#waiting.push(resolve));
  }
}

export function object(name: string, resourceVersion: number, uid = `uid-${name}`): PluginObject {
  const metadata = { name, uid, resourceVersion: String(resourceVersion), version: 0, generation: 1 };
  return {
    apiVersion: 'things.example/v1',
    kind: 'Thing',
    metadata: { ...metadata, creationTimestamp: '2026-01-01T00:00:00.000Z' },
    spec: {},
  };
}

export function bookmark(resourceVersion: number, isInitialEnd = false): object {
  return {
    apiVersion: 'things.example/v1',
    kind: 'Thing',
    metadata: {
      resourceVersion: String(resourceVersion),
      ...(isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  };
}

export function status(code: number, reason: string, members: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: `it is ${reason}`, reason, code, ...members };
}

/** Waits between attempts pass at once and are noted; a connection is silent for too long when the test says so. */
export class NotingClock implements Clock {
  readonly waits: number[] = [];
  readonly #silences = new Set<() => void>();

  now(): number {
    return Date.UTC(2026, 0, 1);
  }

  monotonic(): number {
    return 0;
  }

  after(delayMs: number, task: () => void): { cancel: () => void } {
    if (delayMs === silenceMs) {
      this.#silences.add(task);
      return { cancel: () => this.#silences.delete(task) };
    }
    this.waits.push(delayMs);
    const handle = setImmediate(task);
    return {
      cancel: () => {
        clearImmediate(handle);
      },
    };
  }

  /** The time limit of whatever is awaited now passes. */
  fallSilent(): void {
    for (const task of [...this.#silences]) task();
  }

  get isListening(): boolean {
    return this.#silences.size > 0;
  }
}

/** Resolves when `holds` does, looking in each turn. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(systemClock, 1);
}

/** The error of a promise that must reject. */
export async function rejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('it resolved');
    },
    (error: unknown) => error,
  );
}
