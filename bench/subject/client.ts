import { authorization } from './server.ts';
import { widgetsPath } from './widgets.ts';

/** The response to a list. The functions below send the requests that prepare a measure or check its results. */
export type Listed = {
  readonly total: number;
  readonly items: readonly Stored[];
  readonly metadata: { readonly resourceVersion: string; readonly remainingItemCount?: number };
};
export type Stored = {
  readonly metadata: { readonly name: string; readonly version: number; readonly resourceVersion: string };
  readonly spec: { readonly size: number };
};

export async function send(url: string, method: string, path: string, body?: string): Promise<Buffer> {
  const init = {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  };
  const response = await fetch(url + path, init);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!response.ok)
    throw new Error(
      `${method} ${path} returned the status ${response.status.toString()}: ${bytes.toString('utf8').slice(0, 500)}`,
    );
  return bytes;
}

export async function list(url: string, query: string): Promise<Listed> {
  return JSON.parse((await send(url, 'GET', `${widgetsPath}?${query}`)).toString('utf8')) as Listed;
}

export async function get(url: string, name: string): Promise<Stored> {
  return JSON.parse((await send(url, 'GET', `${widgetsPath}/${name}`)).toString('utf8')) as Stored;
}

/**
 * Waits while the server responds with 503, for example because an index is still being built, so that the build does
 * not affect the measure.
 */
export async function served(url: string, path: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url + path, { headers: { authorization } });
    await answer.arrayBuffer();
    if (answer.status !== 503) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Throws unless `actual` equals `expected`, to check that the measured work was done. */
export function expect(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: expected ${String(expected)}, found ${String(actual)}`);
}

export async function expectTotal(url: string, expected: number): Promise<void> {
  await served(url, `${widgetsPath}?size=1`);
  expect('widgets stored', (await list(url, 'size=1')).total, expected);
}
