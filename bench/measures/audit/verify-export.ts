import { execFile } from 'node:child_process';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

import type { Measure } from '../../bench.ts';
import { expect, expectTotal } from '../../subject/client.ts';
import { authorization } from '../../subject/server.ts';

const program = resolve(import.meta.dirname, '../../../src/main.js');
const versions = 10;
const headers = { authorization, 'accept-encoding': 'identity' };

/** Exports a log of a million events, and verifies the file with the command `audit verify` and a public key. */
export const verifyExport: Measure = {
  name: 'verify-export',
  run: async (bench) => {
    const objects = bench.scaled(100_000);
    const count = objects * versions;
    const dir = bench.newDataDir();
    mkdirSync(dir, { recursive: true });
    const [file, keys] = [join(dir, 'log.jsonl'), join(dir, 'keys')];
    let exportMs = 0;
    await bench.withSubject(await bench.seeded(objects, versions), async ({ url }) => {
      await expectTotal(url, objects);
      writeFileSync(keys, await verifierKeys(url));
      const begunMs = performance.now();
      const answer = await served(`${url}/apis/audit.svc.run/v1alpha1/export`);
      if (answer.body === null) throw new Error('the export is empty');
      await pipeline(Readable.fromWeb(answer.body), createWriteStream(file));
      exportMs = performance.now() - begunMs;
    });
    const begunMs = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, [program, 'audit', 'verify', file, '--key', keys]);
    const tookMs = performance.now() - begunMs;
    const events = Number((/^verified: ([\d,]+) events/u.exec(stdout)?.[1] ?? '').replaceAll(',', ''));
    expect('verified events', events >= count, true);
    return [
      {
        measure: `${count.toLocaleString('en')} events: verification of an export`,
        value: tookMs / 1_000,
        unit: 's',
        floor: (20 * count) / 1_000_000,
        bound: 'value at most',
        note: `the export took ${(exportMs / 1_000).toFixed(1)} s`,
      },
    ];
  },
};

async function verifierKeys(url: string): Promise<string> {
  const { items } = (await (await served(`${url}/audit/tree/keys`)).json()) as {
    readonly items: readonly { readonly verifierKey: string }[];
  };
  return items.map(({ verifierKey }) => `${verifierKey}\n`).join('');
}

/** Repeats a request while the server builds the audit indexes or may not sign yet. */
async function served(target: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(target, { headers });
    if (answer.status === 200) return answer;
    const text = await answer.text();
    if (answer.status !== 503) throw new Error(`${target}: ${String(answer.status)} ${text}`);
    await new Promise((retry) => setTimeout(retry, 1_000));
  }
}
