import { fork } from 'node:child_process';
import { once } from 'node:events';

import type { PushOrder } from './ws-server.ts';

/** A baseline server in a child process. */
export type Baseline = {
  readonly url: string;
  push(order: PushOrder): void;
  close(): void;
};

async function start(
  module: 'koa-server' | 'node-server' | 'ws-server',
  args: readonly string[],
  bytes?: Uint8Array,
): Promise<Baseline> {
  const child = fork(new URL(`./${module}.js`, import.meta.url), args, { stdio: 'inherit', serialization: 'advanced' });
  const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }];
  if (bytes !== undefined) child.send({ bytes });
  return {
    url: `http://127.0.0.1:${port.toString()}`,
    push: (order) => {
      child.send(order);
    },
    close: () => {
      child.disconnect();
    },
  };
}

/** Starts a Koa server that responds to every request with `bytes`. */
export function koaFixed(bytes: Uint8Array): Promise<Baseline> {
  return start('koa-server', ['fixed'], bytes);
}

/** Starts a Koa server that parses the JSON body of a request and returns it. */
export function koaEcho(): Promise<Baseline> {
  return start('koa-server', ['echo']);
}

export function bareNode(): Promise<Baseline> {
  return start('node-server', []);
}

export function bareWebSockets(): Promise<Baseline> {
  return start('ws-server', []);
}
