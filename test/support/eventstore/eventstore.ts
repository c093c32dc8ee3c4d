/**
 * A server for tests that behaves like EventStoreDB: the real client connects to it over a real socket. It reproduces
 * the behaviour of a real EventStoreDB as it was observed, including its faults. It is not a database for production.
 */
import { randomUUID } from 'node:crypto';

import { Server, ServerCredentials } from '@grpc/grpc-js';

import { memoryDisk } from './event-disk.ts';
import type { EventDisk } from './event-disk.ts';
import { noFaults } from './faults.ts';
import type { Faults, Phase, Refusal } from './faults.ts';
import { Front } from './front.ts';
import { ServerLog } from './server-log.ts';
import { StreamsService } from './streams-service.ts';
import type { Proposed } from './stored-event.ts';

export type EventStoreOptions = {
  /** By default, a free port. */
  readonly port?: number;
  /** `user:password`. The client sends credentials only over TLS. */
  readonly credentials?: string;
  readonly tls?: { readonly key: string; readonly certificate: string };
  readonly disk?: EventDisk;
  /** The clock for `$maxAge`. */
  readonly now?: () => number;
  /**
   * Omits the proxy that can drop and pause connections. A server in a process of its own does not need it, and copies
   * fewer bytes.
   */
  readonly direct?: boolean;
};

export type ForeignEvent = {
  readonly stream: string;
  readonly type?: string;
  readonly json?: unknown;
  readonly data?: Uint8Array;
  readonly id?: string;
};

/** The duration of each phase after a restart in which the server refuses calls. */
export type RestartPhases = {
  readonly closedMs?: number;
  readonly unavailableMs?: number;
  readonly notReadyMs?: number;
};

export type EventStore = {
  readonly url: string;
  readonly port: number;
  readonly faults: Faults;
  /** The stored log, for the tests of this server itself. */
  readonly log: () => ServerLog;
  readonly stop: () => Promise<void>;
  /** Ends the server as SIGKILL does: its connections end, and unflushed events are lost. */
  readonly kill: () => Promise<void>;
  /**
   * Starts the server on the same port with the flushed events. Resolves when it accepts calls, or, with `phases`, when
   * the first phase begins.
   */
  readonly restart: (phases?: RestartPhases) => Promise<void>;
  /** Enters a phase at once and stays in it. */
  readonly enter: (phase: Phase) => Promise<void>;
  /** Pauses the server as SIGSTOP does: its connections stay open, and no data moves. `resume` continues it. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Kills the server, deletes all events, and starts it again. */
  readonly reset: () => Promise<void>;
  /** Ends all connections without a message; the server keeps running. */
  readonly dropConnections: () => void;
  /**
   * Ends the streams of batch appends with a status. Their client rejects all pending appends, although some may be
   * written.
   */
  readonly rejectInFlight: (refusal: Refusal) => void;
  /** Ends subscriptions and reads. Without a status they end as if they were complete. */
  readonly endReaders: (refusal?: Refusal) => void;
  /** Continues subscriptions after the test has unset `faults.stalled`. */
  readonly wakeReaders: () => void;
  /** Appends an event that another program could have written to the same database. */
  readonly foreignAppend: (event: ForeignEvent) => Promise<void>;
  /**
   * Deletes the events that `$maxCount`, `$maxAge` and `$tb` hide, in this turn of the event loop. Resolves when a
   * restart would not bring them back.
   */
  readonly scavenge: () => Promise<void>;
};

class RunningStore {
  readonly faults: Faults = noFaults();
  readonly #options: EventStoreOptions;
  readonly #disk: EventDisk;
  readonly #front: Front;
  #log: ServerLog;
  #service: StreamsService | undefined;
  #server: Server | undefined;
  #port = 0;
  #innerPort = 0;
  #phase: Phase = 'closed';
  #appends = 0;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(options: EventStoreOptions) {
    this.#options = options;
    this.#disk = options.disk ?? memoryDisk();
    this.#front = new Front(() => this.#innerPort);
    this.#log = new ServerLog(this.#disk, this.#now);
    this.#port = options.port ?? 0;
  }

  readonly #now = (): number => this.#options.now?.() ?? Date.now();

  get port(): number {
    return this.#port;
  }

  log(): ServerLog {
    return this.#log;
  }

  service(): StreamsService | undefined {
    return this.#service;
  }

  front(): Front {
    return this.#front;
  }

  /** Starts the server: reads the flushed events, and writes the events that every real server writes at a start. */
  async start(): Promise<void> {
    this.#log = new ServerLog(this.#disk, this.#now);
    await this.#log.open();
    const server = new Server({
      'grpc.max_receive_message_length': 16_777_216,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc-node.max_session_memory': 256,
    });
    this.#service = new StreamsService(this.#log, {
      faults: this.faults,
      phase: () => this.#phase,
      address: () => ({ host: '127.0.0.1', port: this.#port }),
      credentials: this.#options.credentials,
      dropConnections: () => {
        this.#front.drop();
      },
      nextAppend: () => {
        this.#appends += 1;
        return this.#appends;
      },
    });
    this.#service.addTo(server);
    this.#server = server;
    const bound = await new Promise<number>((resolve, reject) => {
      const wanted = this.#options.direct === true ? this.#port : 0;
      server.bindAsync(`127.0.0.1:${wanted.toString()}`, credentialsOf(this.#options.tls), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
    this.#innerPort = bound;
    if (this.#options.direct === true) this.#port = bound;
    if (this.#log.visible === 0)
      for (const [stream, type] of firstEvents) await this.#log.append(stream, [systemEvent(type)], 'any');
    await this.#log.append('$epoch-information', [systemEvent('$epoch')], 'any');
  }

  async open(): Promise<void> {
    if (this.#options.direct !== true) {
      await this.#front.open(this.#port);
      this.#port = this.#front.port;
    }
    this.#phase = 'ready';
  }

  async kill(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#phase = 'closed';
    await this.#log.halt();
    await this.#front.close();
    this.#server?.forceShutdown();
    this.#server = undefined;
    this.#service = undefined;
  }

  async enter(phase: Phase): Promise<void> {
    if (phase === 'closed') {
      await this.#front.close();
    } else if (this.#phase === 'closed') {
      await this.#front.open(this.#port);
    }
    this.#phase = phase;
  }

  async restart({ closedMs = 0, unavailableMs = 0, notReadyMs = 0 }: RestartPhases = {}): Promise<void> {
    await this.kill();
    await this.start();
    if (closedMs + unavailableMs + notReadyMs === 0) {
      await this.open();
      return;
    }
    this.#later(closedMs, 'unavailable');
    this.#later(closedMs + unavailableMs, 'not-ready');
    this.#later(closedMs + unavailableMs + notReadyMs, 'ready');
  }

  #later(ms: number, phase: Phase): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.enter(phase);
    }, ms);
    this.#timers.add(timer);
  }

  async reset(): Promise<void> {
    await this.kill();
    await this.#disk.clear();
    await this.start();
    await this.open();
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.#disk.close();
  }
}

/** The events that a real database contains before the first client writes. */
const firstEvents = [
  ['$user-admin', '$UserCreated'],
  ['$user-ops', '$UserCreated'],
  ['$users', '$User'],
  ['$users', '$User'],
] as const;

function systemEvent(type: string): Proposed {
  return {
    id: randomUUID(),
    type,
    isJson: true,
    data: Buffer.from(JSON.stringify({ system: true })),
    metadata: Buffer.alloc(0),
  };
}

function credentialsOf(tls: EventStoreOptions['tls']): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(null, [
    { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) },
  ]);
}

export async function startEventStore(options: EventStoreOptions = {}): Promise<EventStore> {
  const store = new RunningStore(options);
  await store.start();
  await store.open();
  const host = options.tls === undefined ? '127.0.0.1' : 'localhost';
  const user = options.credentials === undefined ? '' : `${options.credentials}@`;
  return {
    url: `esdb://${user}${host}:${store.port.toString()}?tls=${(options.tls !== undefined).toString()}`,
    port: store.port,
    faults: store.faults,
    log: () => store.log(),
    stop: () => store.stop(),
    kill: () => store.kill(),
    restart: (phases) => store.restart(phases),
    enter: (phase) => store.enter(phase),
    pause: () => {
      store.front().pause();
    },
    resume: () => {
      store.front().resume();
    },
    reset: () => store.reset(),
    dropConnections: () => {
      store.front().drop();
    },
    rejectInFlight: (refusal) => {
      store.service()?.rejectInFlight(refusal);
    },
    endReaders: (refusal) => {
      store.service()?.endReaders(refusal);
    },
    wakeReaders: () => {
      store.service()?.wakeReaders();
    },
    foreignAppend: async ({ stream, type = 'Foreign', json, data, id = randomUUID() }) => {
      const bytes = data ?? Buffer.from(JSON.stringify(json ?? {}));
      await store
        .log()
        .append(stream, [{ id, type, isJson: data === undefined, data: bytes, metadata: Buffer.alloc(0) }], 'any');
    },
    scavenge: () => store.log().scavenge(),
  };
}
