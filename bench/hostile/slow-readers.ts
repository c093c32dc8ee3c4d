import { request } from 'node:http';

import type { Bench } from '../bench.ts';
import type { Result } from '../result.ts';
import { send } from '../subject/client.ts';
import { adminPassword } from '../subject/server.ts';
import { widgetsPath } from '../subject/widgets.ts';
import { openSilent } from './silent-clients.ts';
import { unlogged } from './unlogged.ts';

const readers = 80;
/** The address of another client on the same machine. */
const otherAddress = '127.0.0.2';

/** The user of the measured request, different from the user of the readers. */
const victim = 'victim';

/** Measures a long list for another user at another address, while readers request the same list and do not read. */
export async function slowReaders(bench: Bench): Promise<readonly Result[]> {
  const count = bench.scaled(100_000);
  return bench.withSubject(
    await bench.seeded(count),
    async ({ url }) => {
      await addVictim(url);
      const alone = await timeList(url);
      const opening: Promise<unknown>[] = Array.from({ length: readers }, async () =>
        openSilent(url, widgetsPath, 1).catch(() => undefined),
      );
      await Promise.race(opening);
      const value = await timeList(url);
      for (const clients of await Promise.all(opening)) if (isOpen(clients)) clients.close();
      const measure = `LIST of ${count.toLocaleString('en')} beside ${String(readers)} stalled readers`;
      return [{ measure, value, unit: 's', floor: 10, bound: 'value at most', note: `alone ${alone.toFixed(2)} s` }];
    },
    unlogged,
  );
}

function isOpen(clients: unknown): clients is { close(): void } {
  return typeof clients === 'object' && clients !== null && 'close' in clients;
}

async function addVictim(url: string): Promise<void> {
  const user = { metadata: { name: victim }, spec: { password: adminPassword } };
  await send(url, 'POST', '/api/v1alpha1/users', JSON.stringify(user));
  const path = `/apis/api.console.svc.run/v1alpha1/users/${victim}/permissions`;
  await send(url, 'POST', path, JSON.stringify({ roles: ['super-role'] }));
}

async function timeList(url: string): Promise<number> {
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    const auth = `${victim}:${adminPassword}`;
    request(`${url}${widgetsPath}`, { auth, localAddress: otherAddress }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a list returned the status ${String(response.statusCode)}`));
      response.on('end', resolve).on('error', reject).resume();
    })
      .on('error', reject)
      .end();
  });
  return (performance.now() - began) / 1_000;
}
