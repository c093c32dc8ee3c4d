import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Socket } from 'node:net';
import type { Test } from 'tap';

import { visitor } from '../../../src/command/subject.ts';
import type { PluginLogger } from '../../../src/plugin/api/plugin.ts';
import { createWatchEndpoints } from '../../../src/http/watch/watch-endpoints.ts';
import type { WatchRequest } from '../../../src/http/watch/watching.ts';
import { WatchHub } from '../../../src/watch/hub.ts';
import { Outboxes, type OutboxBounds } from '../../../src/watch/outbox.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { MemoryLog } from '../memory/memory-log.ts';
import { MemoryObjects, WidgetWriter } from '../memory/memory-objects.ts';
import { widgetType, type WidgetContent } from '../watched-type.ts';

const silent: PluginLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export type WatchServerOptions = { readonly clock?: FakeClock; readonly bounds?: OutboxBounds };

/** The watch endpoints behind a real HTTP server, with a log and read models in memory and a fake clock. */
export class WatchServer {
  readonly clock: FakeClock;
  readonly log = new MemoryLog();
  readonly type = widgetType();
  readonly writer = new WidgetWriter(this.log);
  readonly objects: MemoryObjects;
  readonly hub: WatchHub;
  readonly server: Server;
  /** The server's ends of all connections. */
  readonly connections = new Set<Socket>();

  constructor({ clock = new FakeClock(), bounds }: WatchServerOptions = {}) {
    this.clock = clock;
    this.objects = new MemoryObjects(this.log, clock, [this.type]);
    this.hub = new WatchHub({
      feed: this.objects,
      reader: this.objects,
      log: this.log,
      clock,
      report: (error) => {
        throw error;
      },
      outboxes: new Outboxes(clock, bounds),
    });
    const endpoints = createWatchEndpoints({ hub: this.hub, clock: this.clock, domain: 'example.com', log: silent });
    this.server = createServer((req, res) => {
      endpoints.open(this.#request(req.url), req, res);
    });
    this.server.on('upgrade', (req, socket, head) => {
      endpoints.upgrade(this.#request(req.url), req, socket, head);
    });
    this.server.on('connection', (socket) => {
      this.connections.add(socket);
      socket.once('close', () => {
        this.connections.delete(socket);
      });
    });
  }

  static async start(t: Test, options: WatchServerOptions = {}): Promise<WatchServer> {
    const started = new WatchServer(options);
    started.server.listen(0, '127.0.0.1');
    await once(started.server, 'listening');
    t.teardown(async () => {
      started.server.close();
      started.server.closeAllConnections();
      for (const socket of started.connections) socket.destroy();
      await once(started.server, 'close');
    });
    return started;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(query = '', name?: string): string {
    return `http://127.0.0.1:${String(this.port)}${this.type.path}${name === undefined ? '' : `/${name}`}?${query}`;
  }

  async write(name: string, content: WidgetContent | 'deleted' = {}): Promise<bigint> {
    const position = await this.writer.write(name, content);
    await this.objects.fold();
    return position;
  }

  #request(url = ''): WatchRequest {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const name = pathname.slice(this.type.path.length + 1);
    return {
      type: this.type,
      query: searchParams,
      subject: visitor,
      address: '127.0.0.1',
      requestId: 'r-1',
      ...(name === '' ? {} : { name }),
    };
  }
}
