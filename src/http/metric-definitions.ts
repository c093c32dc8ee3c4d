import { defineMemory, type MemorySources } from './memory-metrics.ts';
import type { MetricLibrary } from './metric-library.ts';
import { definePluginMetrics, type PluginSources } from './metrics/plugin-metrics.ts';
import type { StreamCount } from './plugin-routes/plugin-streams.ts';

/** Values that other modules measure. The values are read at each scrape. */
export type MetricSources = MemorySources & {
  /** The position of the last folded event. */
  readonly position: () => bigint;
  readonly watchers: () => number;
  readonly pluginStreams: () => readonly StreamCount[];
  readonly objects: () => readonly { readonly type: string; readonly count: number }[];
  readonly isReady: () => boolean;
  readonly isLogReachable: () => boolean;
  readonly isLeader: () => boolean;
  /** The number of renewed subscriptions to the log. */
  readonly resubscriptions: () => number;
  /** The disk of DATA_DIR: its free bytes when they were last read, and the reserve. */
  readonly disk: { readonly freeBytes: number; readonly reserveBytes: number };
  /** Undefined if the event loop is not monitored. */
  readonly eventLoop?: EventLoopSource | undefined;
  /** The certificate in use, with its expiry in milliseconds since the Unix epoch; undefined without TLS. */
  readonly certificate?: (() => { readonly expiresAt: number }) | undefined;
  /**
   * `totals` counts accesses (log-ins, log-outs and refusals) by kind. `omitted` is the number of accesses without an
   * event of their own. Undefined if accesses are not recorded.
   */
  readonly accesses?: { readonly totals: ReadonlyMap<string, number>; readonly omitted: number } | undefined;
  /** The controllers with their queued keys (`depth`), spinning keys, and steps by outcome (`counts`). */
  readonly controllers: () => readonly {
    readonly name: string;
    readonly depth: number;
    readonly spinning: number;
    readonly counts: Readonly<Record<string, number>>;
  }[];
  readonly hooks: PluginSources['hooks'];
  readonly conversions: PluginSources['conversions'];
  readonly migrations: PluginSources['migrations'];
};

/**
 * `held` returns the number of blocks of the event loop by plugin ('' means the platform). `lag` returns the delays of
 * the event loop since the previous call of `lag`, in seconds by quantile.
 */
export type EventLoopSource = {
  held(): ReadonlyMap<string, number>;
  lag(): ReadonlyMap<string, number>;
};

/** Defines the node's metrics. `answered` counts responses by status. */
export function defineMetrics(sources: MetricSources, answered: readonly number[], library: MetricLibrary): void {
  defineResponses(answered, library);
  defineNode(sources, library);
  defineObjects(sources, library);
  if (sources.eventLoop !== undefined) defineEventLoop(sources.eventLoop, library);
  if (sources.certificate !== undefined) defineCertificate(sources.certificate, library);
  if (sources.accesses !== undefined) defineAccesses(sources.accesses, library);
  defineControllers(sources, library);
  defineDisk(sources.disk, library);
  defineMemory(sources, library);
  defineStreams(sources, library);
  definePluginMetrics(sources, library);
}

function defineResponses(answered: readonly number[], { Counter, registers }: MetricLibrary): void {
  new Counter({
    name: 'ledgerplane_http_responses_total',
    help: 'HTTP responses by status code.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset();
      for (const [status, count] of answered.entries()) if (count > 0) this.inc({ code: String(status) }, count);
    },
  });
}

function defineNode(sources: MetricSources, { Counter, Gauge, registers }: MetricLibrary): void {
  const { position, watchers, isReady, isLogReachable, isLeader, resubscriptions } = sources;
  new Gauge({
    name: 'ledgerplane_position',
    help: 'Log position of the last event in the read models.',
    registers,
    collect() {
      this.set(Number(position()));
    },
  });
  new Gauge({
    name: 'ledgerplane_watchers',
    help: 'Open watches.',
    registers,
    collect() {
      this.set(watchers());
    },
  });
  new Gauge({
    name: 'ledgerplane_ready',
    help: '1 if the read models have caught up and the plugins have started.',
    registers,
    collect() {
      this.set(isReady() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'ledgerplane_log_reachable',
    help: '1 if the event log is available.',
    registers,
    collect() {
      this.set(isLogReachable() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'ledgerplane_leader',
    help: '1 if this node is the leader.',
    registers,
    collect() {
      this.set(isLeader() ? 1 : 0);
    },
  });
  new Counter({
    name: 'ledgerplane_log_resubscriptions_total',
    help: 'Number of times the node resubscribed to the event log after it lost a subscription.',
    registers,
    collect() {
      this.reset();
      this.inc(resubscriptions());
    },
  });
}

function defineAccesses(accesses: NonNullable<MetricSources['accesses']>, { Counter, registers }: MetricLibrary): void {
  new Counter({
    name: 'ledgerplane_accesses_total',
    help: 'Log-ins, log-outs, failed log-ins and refused requests by kind.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const [kind, count] of accesses.totals) this.inc({ kind }, count);
    },
  });
  new Counter({
    name: 'ledgerplane_accesses_omitted_total',
    help: 'Log-ins, log-outs, failed log-ins and refused requests without an event of their own in the log.',
    registers,
    collect() {
      this.reset();
      this.inc(accesses.omitted);
    },
  });
}

function defineCertificate(
  certificate: NonNullable<MetricSources['certificate']>,
  { Gauge, registers }: MetricLibrary,
): void {
  new Gauge({
    name: 'ledgerplane_tls_certificate_expires_timestamp_seconds',
    help: 'The expiry time of the TLS certificate in use, in seconds since the Unix epoch.',
    registers,
    collect() {
      this.set(Math.floor(certificate().expiresAt / 1_000));
    },
  });
}

function defineObjects({ objects }: MetricSources, { Gauge, registers }: MetricLibrary): void {
  new Gauge({
    name: 'ledgerplane_objects',
    help: 'Objects by type.',
    labelNames: ['type'],
    registers,
    collect() {
      this.reset();
      for (const { type, count } of objects()) this.set({ type }, count);
    },
  });
}

function defineControllers({ controllers }: MetricSources, { Counter, Gauge, registers }: MetricLibrary): void {
  new Counter({
    name: 'ledgerplane_reconcile_total',
    help: 'Reconciler steps by outcome; the outcome stuck counts steps that exceeded their time limit.',
    labelNames: ['controller', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { name, counts } of controllers())
        for (const [outcome, count] of Object.entries(counts)) this.inc({ controller: name, outcome }, count);
    },
  });
  new Gauge({
    name: 'ledgerplane_reconcile_queue_depth',
    help: 'Keys that wait for a reconciler.',
    labelNames: ['controller'],
    registers,
    collect() {
      this.reset();
      for (const { name, depth } of controllers()) this.set({ controller: name }, depth);
    },
  });
  new Gauge({
    name: 'ledgerplane_reconcile_spinning_names',
    help: 'Names that a reconciler rewrites again and again, or requests again without a delay.',
    labelNames: ['controller'],
    registers,
    collect() {
      this.reset();
      for (const { name, spinning } of controllers()) if (spinning > 0) this.set({ controller: name }, spinning);
    },
  });
}

function defineStreams({ pluginStreams }: MetricSources, { Gauge, registers }: MetricLibrary): void {
  new Gauge({
    name: 'ledgerplane_plugin_streams',
    help: 'Open server-sent event streams and WebSockets of plugins.',
    labelNames: ['plugin', 'transport'],
    registers,
    collect() {
      this.reset();
      for (const { count, ...labels } of pluginStreams()) this.set(labels, count);
    },
  });
}

function defineDisk(disk: MetricSources['disk'], { Gauge, registers }: MetricLibrary): void {
  new Gauge({
    name: 'ledgerplane_disk_free_bytes',
    help: 'Bytes free on the disk of DATA_DIR.',
    registers,
    collect() {
      this.set(disk.freeBytes);
    },
  });
  new Gauge({
    name: 'ledgerplane_disk_reserve_bytes',
    help: 'Bytes that must be free so that client writes are accepted; 0 for no reserve.',
    registers,
    collect() {
      this.set(disk.reserveBytes);
    },
  });
}

function defineEventLoop(source: EventLoopSource, { Counter, Gauge, registers }: MetricLibrary): void {
  new Gauge({
    name: 'ledgerplane_event_loop_lag_seconds',
    help: 'Event loop delay since the last scrape, by quantile; 1 is the maximum.',
    labelNames: ['quantile'],
    registers,
    collect() {
      for (const [quantile, seconds] of source.lag()) this.set({ quantile }, seconds);
    },
  });
  new Counter({
    name: 'ledgerplane_event_loop_held_total',
    help:
      'Number of times the event loop was blocked for more than half a second, by plugin; ' +
      'without a plugin, by the platform.',
    labelNames: ['plugin'],
    registers,
    collect() {
      this.reset();
      for (const [plugin, count] of source.held()) this.inc({ plugin }, count);
    },
  });
}
