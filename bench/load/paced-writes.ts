import type { Socket } from 'node:net';

import { ResponseReader } from './response-reader.ts';
import { openSocket, type Target } from './socket.ts';
import { compileRequest } from './template.ts';
import type { RequestTemplate } from './template.ts';

/** The plan of writes at a steady rate, which does not depend on the response times. */
export type PacedPlan = Target & {
  readonly request: RequestTemplate;
  readonly connections: number;
  readonly status: number;
  readonly perSecond: number;
  readonly count: number;
  readonly first?: number;
};

/**
 * The response to a write: the resourceVersion, the time of the response, and the latency of the write in milliseconds.
 */
export type Answered = { readonly version: bigint; readonly at: number; readonly tookMs: number };

/**
 * Writes at a steady rate. Calls `onSent` with the number of each request when it is sent. Returns the responses by
 * resourceVersion, which is the order in which a watcher receives the changes.
 */
export async function writePaced(
  plan: PacedPlan,
  onSent: (index: number) => void = () => undefined,
): Promise<readonly Answered[]> {
  const render = compileRequest(plan.request);
  const answers: Answered[] = [];
  const free: Socket[] = [];
  let failure: Error | undefined;
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = openSocket(plan, () => {
        resolve(socket);
      });
      const reader = new ResponseReader((status) => {
        const text = Buffer.concat(reader.kept ?? []).toString('utf8');
        reader.kept = [];
        const version = /"resourceVersion":"(\d+)"/u.exec(text)?.[1];
        if (status !== plan.status || version === undefined)
          failure ??= new Error(`a write returned the status ${status.toString()}: ${text.slice(0, 300)}`);
        const at = performance.now();
        answers.push({ version: BigInt(version ?? 0), at, tookMs: at - (sentAt.get(socket) ?? at) });
        free.push(socket);
      });
      reader.kept = [];
      socket
        .on('data', (chunk: Buffer) => {
          reader.read(chunk);
        })
        .once('error', reject);
    });
  const sentAt = new Map<Socket, number>();
  const sockets = await Promise.all(Array.from({ length: plan.connections }, open));
  free.push(...sockets);
  const began = performance.now();
  let sent = 0;
  while (answers.length < plan.count && failure === undefined) {
    const due = Math.min(plan.count, Math.floor(((performance.now() - began) / 1_000) * plan.perSecond) + 1);
    while (sent < due) {
      const socket = free.shift();
      if (socket === undefined) break;
      sentAt.set(socket, performance.now());
      onSent(sent);
      socket.write(Buffer.from(render({ n: (plan.first ?? 0) + sent, c: 0, k: sent, v: '' }) as string, 'latin1'));
      sent += 1;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }
  for (const socket of sockets) socket.destroy();
  if (failure !== undefined) throw failure;
  return answers.sort((left, right) => (left.version < right.version ? -1 : 1));
}
