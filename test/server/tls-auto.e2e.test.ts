import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';

import { StartError } from '../../src/base/start-error.ts';
import { isHostName } from '../../src/base/host-names.ts';
import { authorityYears, certificateDays, tlsRenewalLookMs } from '../../src/limits/tls.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { askTls } from '../support/server/ask-tls.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { adminAuthorization, startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';

const environment = { TLS: 'auto' };
const dayMs = 86_400_000;
const textOf = (server: Pick<TestServer, 'dataDir'>, name: string): string =>
  readFileSync(join(server.dataDir, 'tls', name), 'utf8');

test('the first start creates an authority and a certificate, and later ones use them', async (t) => {
  const server = await startTestServer({ environment });
  t.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/u);
  const ca = textOf(server, 'ca.crt');
  const authority = new X509Certificate(ca);
  const { port } = new URL(server.url);
  for (const name of ['127.0.0.1', 'localhost']) {
    const { status, certificate } = await askTls(`https://${name}:${port}/healthz`, { ca });
    t.equal(status, 200, name);
    t.ok(certificate.verify(authority.publicKey));
  }
  const { certificate } = await askTls(`${server.url}/healthz`, { ca });
  t.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  t.ok(certificate.checkIP('::1'));
  if (isHostName(hostname())) t.ok(certificate.checkHost(hostname()));
  t.ok(authority.ca);
  t.notOk(certificate.ca);
  t.equal(new Date(authority.validTo).getUTCFullYear() - new Date().getUTCFullYear(), authorityYears);
  const left = (Date.parse(certificate.validTo) - Date.now()) / dayMs;
  t.ok(left > certificateDays - 1 && left <= certificateDays);
  for (const name of ['ca.key', 'server.key', 'ca.crt', 'server.crt'])
    t.equal(statSync(join(server.dataDir, 'tls', name)).mode & 0o777, 0o600, name);
  await t.rejects(askTls(`${server.url}/healthz`), /certificate/u, 'a client that does not know the authority');

  const again = await server.restart();
  t.teardown(async () => again.remove());
  t.equal((await askTls(`${again.url}/healthz`, { ca })).certificate.serialNumber, certificate.serialNumber);
});

test('a session over TLS has a Secure cookie, and the metrics say when the certificate expires', async (t) => {
  const server = await startTestServer({ environment });
  t.teardown(async () => server.remove());
  const ca = textOf(server, 'ca.crt');
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ username: 'admin', password: testPassword });
  const login = await askTls(`${server.url}/login`, { ca, method: 'POST', headers }, body);
  t.match(login.headers['set-cookie']?.[0], /; Secure$/u);
  const metrics = await askTls(`${server.url}/metrics`, { ca, headers: { authorization: adminAuthorization } });
  const [, expires] = /^ledgerplane_tls_certificate_expires_timestamp_seconds (\d+)$/mu.exec(metrics.body) ?? [];
  t.equal(Number(expires) * 1_000, Date.parse(metrics.certificate.validTo));
});

test('the certificate is renewed after two thirds of its validity, and no connection ends', async (t) => {
  const clock = new FakeClock();
  const lines: string[] = [];
  let wake: () => void = () => undefined;
  const logLines = {
    write: (line: string) => {
      lines.push(line);
      wake();
    },
  };
  const server = await startTestServer({ environment, clock, logLines });
  t.teardown(async () => server.remove());
  const first = textOf(server, 'server.crt');
  const ca = textOf(server, 'ca.crt');
  const renewed = (): boolean => lines.some((line) => line.includes('new connections use a new TLS certificate'));
  const { beginsAt, endsAt } = {
    beginsAt: Date.parse(new X509Certificate(first).validFrom),
    endsAt: Date.parse(new X509Certificate(first).validTo),
  };
  const due = beginsAt + (2 / 3) * (endsAt - beginsAt);
  clock.jump(due - clock.now() - 2 * tlsRenewalLookMs);
  clock.advance(tlsRenewalLookMs);
  t.equal(textOf(server, 'server.crt'), first);
  clock.jump(tlsRenewalLookMs);
  while (!renewed()) {
    const logged = new Promise<void>((resolve) => {
      wake = resolve;
    });
    clock.advance(tlsRenewalLookMs);
    await Promise.race([
      logged,
      new Promise((resolve) => {
        setImmediate(resolve);
      }),
    ]);
  }
  const second = new X509Certificate(textOf(server, 'server.crt'));
  t.not(second.serialNumber, new X509Certificate(first).serialNumber);
  t.equal(textOf(server, 'ca.crt'), ca, 'the authority is the same');
  const served = await askTls(`${server.url}/healthz`, { rejectUnauthorized: false });
  t.equal(served.certificate.serialNumber, second.serialNumber);
});

test('another HOST gets another certificate of the same authority', async (t) => {
  const server = await startTestServer({ environment });
  const ca = textOf(server, 'ca.crt');
  const { dataDir } = server;
  await server.close();
  const other = await startTestServer({ environment: { ...environment, HOST: '127.0.0.2' }, dataDir });
  t.teardown(async () => other.remove());
  const { certificate } = await askTls(`${other.url}/healthz`, { ca });
  t.ok(certificate.checkIP('127.0.0.2'));
  t.ok(certificate.checkHost('localhost'));
});

test('the operator must remove an unusable authority; a damaged certificate is issued again', async (t) => {
  const server = await startTestServer({ environment });
  const { dataDir } = server;
  const ca = textOf(server, 'ca.crt');
  await server.close();
  writeFileSync(join(dataDir, 'tls', 'server.crt'), 'half a');
  await (await startTestServer({ environment, dataDir })).close();
  t.equal(textOf(server, 'ca.crt'), ca);

  const years = new FakeClock(Date.now() + (authorityYears * 366 + 1) * dayMs);
  const expired = startTestServer({ environment, dataDir, clock: years });
  await t.rejects(expired, { constructor: StartError, exitCode: 2, message: /ca\.crt cannot be used: it expired on/u });
  rmSync(join(dataDir, 'tls', 'ca.key'));
  const lost = startTestServer({ environment, dataDir });
  await t.rejects(lost, { constructor: StartError, message: /restore .*tls from a backup, or remove the folder/u });
  t.equal(textOf(server, 'ca.crt'), ca, 'nothing is written');
  rmSync(join(dataDir, 'tls'), { recursive: true });
  const fresh = await startTestServer({ environment, dataDir });
  t.not(textOf(server, 'ca.crt'), ca);
  await fresh.remove();
});

test('the ready line has the scheme', async (t) => {
  const run = runCommandLine(['serve'], { cwd: t.testdir(), env: { PORT: '0', DATA_DIR: 'data', TLS: 'auto' } });
  t.match(await run.ready(), /^ledgerplane ready on https:\/\/127\.0\.0\.1:\d+ /u);
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
});
