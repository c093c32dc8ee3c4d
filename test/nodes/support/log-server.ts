import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';

import { eventStorePrefixDefault } from '../../../src/config/eventstore-prefix.ts';
import type { LogAt } from '../../support/memory/event-log.ts';
import { spawnEventStore } from '../../support/eventstore/eventstore-process.ts';

/** What nodes share, and how it is taken away from them and given back. */
export type LogServer = Required<LogAt> & {
  readonly kill: () => Promise<void>;
  /** Resolves when it answers again. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export const realServer = process.env['TEST_EVENTSTORE_URL'];
/** A program that stops a member of the cluster, which is started again by its supervisor. */
const stopMember = process.env['TEST_EVENTSTORE_STOP_MEMBER'];

/** Said by each run, so that nobody takes the test server for the real one. */
export function commentServer(t: Test): void {
  t.comment(
    realServer === undefined
      ? 'over the test server: TEST_EVENTSTORE_URL is not set, so no real EventStoreDB was asked'
      : 'over the server that TEST_EVENTSTORE_URL names, with its connections cut where the test server would be ' +
          'killed; over a cluster, with a member stopped by the program that TEST_EVENTSTORE_STOP_MEMBER names',
  );
}

/** An empty log: the test server as a process that is killed; or a part of a real one, cut off as if it were. */
export async function startLogServer(t: Test): Promise<LogServer> {
  const server = await openLogServer();
  t.teardown(async () => server.stop());
  return server;
}

async function openLogServer(): Promise<LogServer> {
  if (realServer === undefined) return startTestProcess();
  return /^esdb\+discover:|,/u.test(realServer) ? openCluster(realServer) : startCutOff(realServer);
}

/** A part of a cluster. Its members name each other to their clients, so no door can stand before them. */
function openCluster(url: string): LogServer {
  return {
    url,
    prefix: `test-${randomUUID()}-`,
    kill: async () => {
      if (stopMember !== undefined) await promisify(execFile)(stopMember);
    },
    restart: async () => Promise.resolve(),
    stop: async () => Promise.resolve(),
  };
}

async function startTestProcess(): Promise<LogServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-eventstore-'));
  const store = await spawnEventStore({ file: join(folder, 'log') });
  return {
    url: store.url,
    prefix: eventStorePrefixDefault,
    kill: async () => store.kill(),
    restart: async () => store.restart(),
    stop: async () => {
      await store.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A door before a server that is not ours to kill: shut, it drops every connection and takes no new one. */
async function startCutOff(url: string): Promise<LogServer> {
  const [, scheme = '', user = '', host = '', query = ''] = /^(esdb):\/\/(.*@)?([^/?,]+)\/?(\?.*)?$/u.exec(url) ?? [];
  if (scheme === '') throw new Error('TEST_EVENTSTORE_URL must name one host, as esdb://…');
  const [name = '', port = '2113'] = host.split(':');
  const sockets = new Set<Socket>();
  const open = async (at: number): Promise<Server> => {
    const server = createServer((near) => {
      const far = connect(Number(port), name);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.pipe(to);
        from
          .on('error', () => undefined)
          .on('close', () => {
            sockets.delete(from);
            to.destroy();
          });
      }
    });
    await new Promise<void>((resolve) => {
      server.listen(at, '127.0.0.1', resolve);
    });
    return server;
  };
  let door = await open(0);
  const address = door.address();
  const at = typeof address === 'object' && address !== null ? address.port : 0;
  const shut = async (): Promise<void> => {
    const closed = new Promise((resolve) => {
      door.close(resolve);
    });
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const prefix = `test-${randomUUID()}-`;
  return {
    prefix,
    url: `esdb://${user}127.0.0.1:${at.toString()}${query}`,
    kill: shut,
    restart: async () => {
      door = await open(at);
    },
    stop: shut,
  };
}
