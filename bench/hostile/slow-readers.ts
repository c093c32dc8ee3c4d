import { request } from 'node:http';

import type { Bench } from '../bench.ts';
import type { Result } from '../result.ts';
import { headers } from '../subject/server.ts';
import { widgetsPath } from '../subject/widgets.ts';
import { openSilent } from './silent-clients.ts';
import { unlogged } from './unlogged.ts';

const readers = 80;
/** A client of the same machine at another address. */
const otherAddress = '127.0.0.2';

/** Readers that take nothing of a long list: how long the same list takes for a client at another address. */
export async function slowReaders(bench: Bench): Promise<readonly Result[]> {
  const count = bench.scaled(100_000);
  return bench.withSubject(await bench.seeded(count), async ({ url }) => {
    const alone = await timeList(url);
    const opening: Promise<unknown>[] = Array.from({ length: readers }, async () => openSilent(url, widgetsPath, 1).catch(() => undefined));
    await Promise.race(opening);
    const value = await timeList(url);
    for (const clients of await Promise.all(opening)) if (isOpen(clients)) clients.close();
    const measure = `LIST of ${count.toLocaleString('en')} beside ${String(readers)} readers that take nothing`;
    return [{ measure, value, unit: 's', floor: 10, bound: 'value at most', note: `alone ${alone.toFixed(2)} s` }];
  }, unlogged);
}

function isOpen(clients: unknown): clients is { close(): void } {
  return typeof clients === 'object' && clients !== null && 'close' in clients;
}

async function timeList(url: string): Promise<number> {
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    request(`${url}${widgetsPath}`, { headers, localAddress: otherAddress }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a list was answered ${String(response.statusCode)}`));
      response.on('end', resolve).on('error', reject).resume();
    }).on('error', reject).end();
  });
  return (performance.now() - began) / 1_000;
}
