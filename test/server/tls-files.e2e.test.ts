import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { test, type Test } from 'tap';

import { tlsLookMs } from '../../src/limits/tls.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { askTls } from '../support/server/ask-tls.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { selfSigned } from '../support/server/self-signed.ts';
import { startTestServer } from '../support/server/start-server.ts';

type Pair = { readonly certificate: string; readonly key: string };

function put(folder: string, { certificate, key }: Pair): void {
  for (const [name, text] of [
    ['cert.pem', certificate],
    ['key.pem', key],
  ] as const) {
    writeFileSync(join(folder, `${name}.new`), text);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  }
}

/** A server with files of its own, and the lines that it logs. */
async function given(t: Test) {
  const folder = t.testdir();
  const first = selfSigned();
  put(folder, first);
  const clock = new FakeClock(Date.now());
  const lines: string[] = [];
  let wake: () => void = () => undefined;
  const logLines = {
    write: (line: string) => {
      lines.push(line);
      wake();
    },
  };
  const environment = { TLS: 'files', TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') };
  const server = await startTestServer({ environment, clock, logLines });
  t.teardown(async () => server.remove());
  /** Resolves with the next line that contains `text`. */
  const logged = async (text: string): Promise<string> => {
    for (;;) {
      const line = lines.splice(0).find((each) => each.includes(text));
      if (line !== undefined) return line;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { folder, first, clock, server, lines, logged };
}

test('new certificate files are loaded within ten seconds, and end no connection', async (t) => {
  const { folder, first, clock, server, lines, logged } = await given(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => {
    agent.destroy();
  });
  const kept = { agent, ca: first.certificate };
  t.equal((await askTls(`${server.url}/healthz`, kept)).status, 200);
  const second = selfSigned();
  put(folder, second);
  lines.length = 0;
  clock.advance(10_000);
  await logged('new connections use a new TLS certificate');
  t.equal((await askTls(`${server.url}/healthz`, { ca: second.certificate })).status, 200);
  t.equal((await askTls(`${server.url}/healthz`, kept)).status, 200, 'on the connection from before');
  await t.rejects(askTls(`${server.url}/healthz`, { ca: first.certificate }), /self-signed|certificate/u);
});

test('an invalid pair is logged once, and the present one is used until a valid one replaces it', async (t) => {
  const { folder, first, clock, server, lines, logged } = await given(t);
  const still = async (): Promise<number> => (await askTls(`${server.url}/healthz`, { ca: first.certificate })).status;
  const message = 'the new TLS files are invalid; the current certificate remains in use';
  const second = selfSigned();
  put(folder, { certificate: second.certificate, key: selfSigned().key });
  lines.length = 0;
  clock.advance(tlsLookMs);
  t.match(await logged(message), /TLS_CERT and TLS_KEY do not match/u);
  t.equal(await still(), 200);
  rmSync(join(folder, 'key.pem'));
  clock.advance(tlsLookMs);
  t.match(await logged(message), /key\.pem\\", which does not exist/u);
  t.equal(await still(), 200);
  clock.advance(tlsLookMs);
  server.reloadCertificate();
  t.match(await logged(message), /does not exist/u, 'a reload that is asked for is always answered');
  t.notOk(
    lines.some((line) => line.includes(message)),
    'the looks before it said nothing',
  );
  t.equal(await still(), 200);
  put(folder, second);
  clock.advance(tlsLookMs);
  await logged('new connections use a new TLS certificate');
  t.equal((await askTls(`${server.url}/healthz`, { ca: second.certificate })).status, 200);
});

test('SIGHUP loads the files at once, and the answer to a plain request names HTTPS', async (t) => {
  const first = selfSigned();
  const folder = t.testdir();
  put(folder, first);
  const env = { PORT: '0', DATA_DIR: 'data', TLS: 'files', TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' };
  const run = runCommandLine(['serve'], { cwd: folder, env });
  const [, url = ''] = / on (https:\S+) /u.exec(await run.ready()) ?? [];
  const plain = await fetch(`${url.replace('https', 'http')}/healthz`);
  t.equal(plain.status, 400);
  t.match(await plain.text(), /HTTPS only/u);
  const second = selfSigned();
  put(folder, second);
  run.child.kill('SIGHUP');
  while (!run.stderr().includes('new connections use a new TLS certificate'))
    await new Promise((resolve) => run.child.stderr?.once('data', resolve));
  t.equal((await askTls(`${url}/healthz`, { ca: second.certificate })).status, 200);
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
});

test('unusable files end the start with exit code 2, along with all other mistakes', async (t) => {
  const folder = t.testdir({ 'cert.pem': 'none' });
  const env = { PORT: 'x', TLS: 'files', TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' };
  const run = runCommandLine(['serve'], { cwd: folder, env });
  t.equal(await run.exited(), 2);
  const lines = run.stderr().trimEnd().split('\n');
  t.equal(lines.length, 3);
  t.match(run.stderr(), /PORT must be[^]*TLS_CERT names .* has no certificate[^]*TLS_KEY names .* does not exist/u);
});
