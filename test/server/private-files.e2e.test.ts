import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test } from 'tap';

import { tightenDataDir } from '../../src/disk/private-files.ts';
import { tellerPackage } from '../packages/teller-package.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../support/server/start-server.ts';

/** Existing files with rights for others. */
function wider(path: string): readonly string[] {
  const stats = lstatSync(path);
  const allowed = stats.isDirectory() ? 0o700 : 0o600;
  const own = (stats.mode & 0o777 & ~allowed) === 0 ? [] : [`${path} ${(stats.mode & 0o777).toString(8)}`];
  return stats.isDirectory() ? [...own, ...readdirSync(path).flatMap((name) => wider(join(path, name)))] : own;
}

async function install(server: TestServer): Promise<number> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(tellerPackage('1.0.0'))]), 'p.tgz');
  const upload = { method: 'POST', body: form, headers: { authorization: adminAuthorization } };
  return (await fetch(`${server.url}/apis/api.console.svc.run/v1alpha1/plugins/install`, upload)).status;
}

test('DATA_DIR is private after writes and a restart, also with earlier files of any mode', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledgerplane-private-'));
  const first = await startTestServer({ dataDir, environment: { ADMIN_PASSWORD: '' } });
  t.same(wider(dataDir), [], 'while it runs at first');
  await first.close();
  let server = await startTestServer({ dataDir });
  t.teardown(async () => server.remove());
  t.same(wider(dataDir), []);
  await server.close();
  execFileSync('chmod', ['-R', 'a+rwX', dataDir]);
  t.ok(wider(dataDir).length > 5);
  server = await startTestServer({ dataDir });
  t.same(wider(dataDir), [], 'tightened at the start');
});

test('packages are private as well', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  t.equal(await install(server), 201);
  t.ok(readdirSync(join(server.dataDir, 'packages')).length > 0);
  t.same(wider(server.dataDir), []);
});

test('files that the server did not create are left unchanged', (t) => {
  const dir = t.testdir({ log: {}, notes: { 'mine.txt': 'x' } });
  chmodSync(join(dir, 'notes', 'mine.txt'), 0o644);
  chmodSync(join(dir, 'log'), 0o755);
  tightenDataDir(dir);
  t.equal(lstatSync(join(dir, 'notes', 'mine.txt')).mode & 0o777, 0o644);
  t.equal(lstatSync(join(dir, 'log')).mode & 0o777, 0o700);
  t.end();
});

const isRoot = process.getuid?.() === 0;

test(
  'a mode that cannot be changed is refused with 2',
  isRoot ? {} : { skip: 'giving a file away wants root' },
  (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-foreign-'));
    t.teardown(() => {
      rmSync(dir, { recursive: true, force: true });
    });
    chmodSync(dir, 0o755);
    mkdirSync(join(dir, 'log'), { mode: 0o755 });
    writeFileSync(join(dir, 'log', 'data.mdb'), '');
    for (const path of [dir, join(dir, 'log')]) chownSync(path, 65_534, 65_534);
    chmodSync(join(dir, 'log', 'data.mdb'), 0o644);
    // The file belongs to root, and this process is nobody for a moment.
    process.seteuid?.(65_534);
    try {
      t.throws(
        () => {
          tightenDataDir(dir);
        },
        { exitCode: 2, message: /data\.mdb has the mode 644 instead of 600/u },
      );
    } finally {
      process.seteuid?.(0);
    }
    t.end();
  },
);
