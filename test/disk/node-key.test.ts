import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test } from 'tap';

import { nodeKey } from '../../src/disk/node-key.ts';

test('a key is made once and kept; one that cannot be used is not replaced', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-keys-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const path = join(dir, 'node.key');
  const made = await nodeKey(dir);
  t.equal(made.length, 32);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.strictSame(await nodeKey(dir), made);
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  for (const text of ['', 'no key', other.export({ type: 'pkcs8', format: 'pem' }).toString()]) {
    writeFileSync(path, text);
    await t.rejects(nodeKey(dir), { name: 'StartError', message: /node\.key cannot be used: /u });
  }
});
