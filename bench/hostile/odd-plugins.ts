import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';

import { tgz } from '../../test/packages/archives.ts';
import type { Bench } from '../bench.ts';
import type { Result } from '../result.ts';
import { send } from '../subject/client.ts';
import { heldWhile } from '../subject/metrics.ts';
import { headers } from '../subject/server.ts';

const heldMsMax = 50;
const plugins = '/apis/plugin.svc.run/v1alpha1/plugins';

function manifest(name: string): string {
  return JSON.stringify({
    apiVersion: 'plugin.svc.run/v1alpha1',
    kind: 'Plugin',
    metadata: { name },
    spec: { version: '1.0.0', main: 'main.js' },
  });
}

/** Writes a folder with one plugin. Returns the setting that names the folder. */
function writePlugin(dataDir: string, name: string, module: string): { readonly PLUGINS_DIRS: string } {
  const folder = join(dirname(dataDir), 'plugins');
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, 'plugin.yaml'), manifest(name));
  writeFileSync(join(folder, name, 'main.js'), module);
  return { PLUGINS_DIRS: folder };
}

/**
 * Measures the time from the start of the process until the platform's types are served, while a plugin waits for a
 * promise that never settles.
 */
export async function neverSettles(bench: Bench): Promise<readonly Result[]> {
  const dataDir = bench.newDataDir();
  const alone = await timeToServe(bench, dataDir, {});
  const settings = writePlugin(dataDir, 'silent', 'await new Promise(() => { setInterval(() => undefined, 1_000); });');
  const beside = await timeToServe(bench, dataDir, settings);
  return [
    {
      measure: 'start beside a plugin that never settles',
      value: beside / 1_000,
      unit: 's',
      floor: alone / 1_000 + 1,
      bound: 'value at most',
      note: `until users can be listed; without the plugin ${(alone / 1_000).toFixed(2)} s`,
    },
  ];
}

async function timeToServe(bench: Bench, dataDir: string, settings: Readonly<Record<string, string>>): Promise<number> {
  // The first start creates the administrator and is not measured.
  await bench.withSubject(dataDir, async () => undefined);
  const port = await freePort();
  const began = performance.now();
  const starting = bench.start(dataDir, { settings, port });
  while (!(await isServed(port))) await passes(10);
  const took = performance.now() - began;
  await (await starting).stop();
  return took;
}

async function isServed(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${String(port)}/api/v1alpha1/users`, { headers }).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.status === 200;
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}

/**
 * A type with a slow index function. The delay is a part of the function's text, so an index that was stored under
 * another delay is not used.
 */
const slowType = (delayMs: number): string => `{
  group: 'slow.example', version: 'v1', kind: 'Slow', singular: 'slow', plural: 'slows',
  schema: { type: 'object', properties: { spec: { type: 'object' } } },
  indexes: [{ name: 'spec.text', indexFunc: (object) => {
    const end = performance.now() + ${String(delayMs)};
    while (performance.now() < end);
    return object.spec.text;
  } }],
}`;

/** Measures how long the build of an index over 6,000 objects, at 1 ms per object, blocks the event loop. */
export async function slowIndex(bench: Bench): Promise<readonly Result[]> {
  const count = bench.scaled(6_000);
  const dataDir = bench.newDataDir();
  const module = (delayMs: number): string => `export default { types: [${slowType(delayMs)}] };\n`;
  const path = '/apis/slow.example/v1/slows';
  const settings = writePlugin(dataDir, 'slow', module(0));
  await bench.withSubject(
    dataDir,
    async ({ url }) => {
      const body = JSON.stringify({ metadata: { name: 's-{n}' }, spec: { text: 'text' } });
      const request = { method: 'POST' as const, path, headers, body };
      await bench.loader.http({ url, request, connections: 64, status: 201, warmUp: 0, requests: count });
      await switchPlugin(url, 'slow', false);
    },
    { settings },
  );
  writePlugin(dataDir, 'slow', module(1));
  return bench.withSubject(
    dataDir,
    async ({ url }) => {
      const began = performance.now();
      const held = await heldWhile(url, async () => {
        await switchPlugin(url, 'slow', true);
        while (!(await isStarted(url, 'slow'))) await passes(20);
        while (!(await isListed(url, path, count))) await passes(20);
      });
      const seconds = (performance.now() - began) / 1_000;
      return [
        {
          measure: `an index of 1 ms per object over ${count.toLocaleString('en')}: longest hold`,
          value: held.maxMs,
          unit: 'ms',
          floor: heldMsMax,
          bound: 'value at most',
          note: `p50 ${held.p50Ms.toFixed(1)} ms; built in ${seconds.toFixed(1)} s`,
        },
      ];
    },
    { settings },
  );
}

async function isListed(url: string, path: string, count: number): Promise<boolean> {
  const answer = await fetch(`${url}${path}?size=1`, { headers });
  const { total } = (await answer.json()) as { readonly total?: number };
  return total === count;
}

/** Measures how long the server blocks its event loop while it rejects the upload of a module with an endless loop. */
export async function endlessUpload(bench: Bench): Promise<readonly Result[]> {
  return bench.withSubject(bench.newDataDir(), async ({ url }) => {
    const form = new FormData();
    const archive = tgz([
      { name: 'plugin.yaml', content: manifest('endless') },
      { name: 'main.js', content: 'for (;;);' },
    ]);
    form.set('file', new Blob([new Uint8Array(archive)]), 'endless-1.0.0.tgz');
    let status = 0;
    const held = await heldWhile(url, async () => {
      const target = `${url}/apis/api.console.svc.run/v1alpha1/plugins/install`;
      const answer = await fetch(target, { method: 'POST', headers, body: form });
      await answer.arrayBuffer();
      status = answer.status;
    });
    if (status < 400 || status >= 500) throw new Error(`the upload returned the status ${String(status)}`);
    return [
      {
        measure: 'an uploaded module that never ends: longest hold',
        value: held.maxMs,
        unit: 'ms',
        floor: heldMsMax,
        bound: 'value at most',
        note: `refused with ${String(status)}`,
      },
    ];
  });
}

async function switchPlugin(url: string, name: string, enabled: boolean): Promise<void> {
  const merge = { ...headers, 'Content-Type': 'application/merge-patch+json' };
  const answer = await fetch(`${url}${plugins}/${name}`, {
    method: 'PATCH',
    headers: merge,
    body: JSON.stringify({ spec: { enabled } }),
  });
  if (answer.status !== 200) throw new Error(`could not enable or disable the plugin: status ${String(answer.status)}`);
  await answer.arrayBuffer();
}

async function isStarted(url: string, name: string): Promise<boolean> {
  const object = JSON.parse((await send(url, 'GET', `${plugins}/${name}`)).toString('utf8')) as {
    readonly status?: { readonly phase?: string };
  };
  return object.status?.phase === 'started';
}
