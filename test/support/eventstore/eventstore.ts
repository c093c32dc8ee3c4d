/**
 * EventStoreDB for tests: the real client talks to it over a real socket. It stands in for the server's behaviour as it
 * was seen on a real one, its faults included, and is no database: nobody is to keep anything in it.
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
  /** One is chosen when it is left out. */
  readonly port?: number;
  /** `user:password`. The client sends them only over TLS. */
  readonly credentials?: string;
  readonly tls?: { readonly key: string; readonly certificate: string };
  readonly disk?: EventDisk;
  /** The clock of `$maxAge`. */
  readonly now?: () => number;
  /** Without the door that drops and stops connections: fewer copies, for a server in a process of its own. */
  readonly direct?: boolean;
};

export type ForeignEvent = {
  readonly stream: string;
  readonly type?: string;
  readonly json?: unknown;
  readonly data?: Uint8Array;
  readonly id?: string;
};

/** How long each way of refusing lasts after a restart. */
export type RestartPhases = {
  readonly closedMs?: number;
  readonly unavailableMs?: number;
  readonly notReadyMs?: number;
};

export type EventStore = {
  readonly url: string;
  readonly port: number;
  readonly faults: Faults;
  /** The server as its own tests see it. */
  readonly log: () => ServerLog;
  readonly stop: () => Promise<void>;
  /** As SIGKILL: connections end, unflushed events are lost. */
  readonly kill: () => Promise<void>;
  /**
   * On the same port, with the flushed events. Resolves when it answers, unless phases are given: then when those
   * begin.
   */
  readonly restart: (phases?: RestartPhases) => Promise<void>;
  /** Goes to a phase at once, and stays there. */
  readonly enter: (phase: Phase) => Promise<void>;
  /** As SIGSTOP and SIGCONT: connections stay and nothing moves. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Killed, emptied and started: an operator begins anew. */
  readonly reset: () => Promise<void>;
  /** Connections end without a word; the server goes on. */
  readonly dropConnections: () => void;
  /** Ends the streams of batch appends with a status: their client rejects everything in flight, written or not. */
  readonly rejectInFlight: (refusal: Refusal) => void;
  /** Ends subscriptions and reads; without a status as if they were complete. */
  readonly endReaders: (refusal?: Refusal) => void;
  /** Lets subscriptions go on after `faults.stalled` was unset. */
  readonly wakeReaders: () => void;
  /** An event that somebody else writes into the same database. */
  readonly foreignAppend: (event: ForeignEvent) => Promise<void>;
  /**
   * Takes away what `$maxCount`, `$maxAge` and `$tb` hide, in this turn. Resolves when a restart would not bring it
   * back.
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

  /** The server's process, started: flushed events are read, and the events of every start are written. */
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

/** What stands in a real log before anybody wrote to it. */
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
