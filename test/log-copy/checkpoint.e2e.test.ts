/** A log that was restored is compared with a checkpoint that somebody has kept, without a server. */
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { folder, makeRoles } from '../backup/backup-stage.ts';
import { startEventStore } from '../support/eventstore/eventstore.ts';
import { runCommand } from '../support/server/command-run.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';

/** The signed checkpoint of the present tree. The first ones wait until the key of the server is trusted. */
async function checkpointOf(server: TestServer): Promise<string> {
  let answer = await server.call('/audit/tree/checkpoint');
  while (answer.status === 503) answer = await server.call('/audit/tree/checkpoint');
  return answer.text();
}

async function keyOf(server: TestServer): Promise<string> {
  const { items } = (await (await server.call('/audit/tree/keys')).json()) as {
    readonly items: readonly { readonly verifierKey: string }[];
  };
  return items[0]?.verifierKey ?? '';
}

type Given = { readonly log: string; readonly files: string; readonly key: string; readonly early: string };

/** A log with a checkpoint from its middle, `early`, whose server has ended, and the files of an auditor. */
async function given(t: Test, environment: Readonly<Record<string, string>> = {}): Promise<Given> {
  const server = await startTestServer({ environment });
  t.teardown(async () => server.remove());
  const files = await folder(t);
  await makeRoles(server, ['first']);
  const [early, key] = [await checkpointOf(server), await keyOf(server)];
  if (environment['EVENT_LOG'] === undefined) {
    const again = await server.restart();
    await again.close();
    await cp(join(server.dataDir, 'log'), join(files, 'copy', 'log'), { recursive: true });
    const grown = await startTestServer({ dataDir: server.dataDir });
    await makeRoles(grown, ['second']);
    await writeFile(join(files, 'late.note'), await checkpointOf(grown));
    await grown.close();
  } else {
    await makeRoles(server, ['second']);
    await server.close();
  }
  await writeFile(join(files, 'early.note'), early);
  return { log: environment['EVENT_LOG'] ?? `embedded:${server.dataDir}`, files, key, early };
}

async function info({ log, files }: Given, note: string, ...more: readonly string[]): ReturnType<typeof runCommand> {
  return runCommand(['log', 'info', '--log', log, '--checkpoint', join(files, note), ...more]);
}

test('a log that begins with the leaves of a checkpoint says so, in its epoch and in later ones', async (t) => {
  const store = await startEventStore();
  t.teardown(async () => store.stop());
  for (const environment of [{}, { EVENT_LOG: store.url }]) {
    const stage = await given(t, environment);
    const size = stage.early.split('\n')[1] ?? '';
    const agrees = new RegExp(
      `^checkpoint of svc\\.run/\\S+, signed by a given key: ${size} leaves, all in this log$`,
      'mu',
    );
    const first = await info(stage, 'early.note', '--key', stage.key);
    t.match(first, { code: 0, out: agrees }, first.err);
    t.match(first.out, /^tree {6}\d+ leaves with root \S+=$/mu);
    t.match(await runCommand(['log', 'new-epoch', '--log', stage.log]), { code: 0 });
    t.match(await info(stage, 'early.note', '--key', stage.key), { code: 0, out: agrees });
    const unchecked = /, not checked against a key: use --key: \d+ leaves, all in this log$/mu;
    t.match(await info(stage, 'early.note'), { code: 0, out: unchecked });
  }
});

test('a log with fewer or other leaves than the checkpoint, and notes that prove nothing, are reported', async (t) => {
  const stage = await given(t);
  const rolledBack = { ...stage, log: `embedded:${join(stage.files, 'copy')}` };
  t.match(await info(rolledBack, 'late.note', '--key', stage.key), {
    code: 1,
    err: /the log has only \d+ leaves, but the checkpoint has \d+: signed events are lost/u,
  });
  t.match(await info(stage, 'late.note', '--key', stage.key), { code: 0 });
  const other = `${'A'.repeat(43)}=`;
  await writeFile(join(stage.files, 'forged.note'), stage.early.replace(/^\S{43}=$/mu, other));
  t.match(await info(stage, 'forged.note'), {
    code: 1,
    err: /the first \d+ leaves of the log have the root \S+=, but the checkpoint has the root AAA/u,
  });
  t.match(await info(stage, 'forged.note', '--key', stage.key), { code: 2, err: /has an invalid signature/u });
  const elsewhere = await given(t);
  t.match(await info(stage, 'early.note', '--key', elsewhere.key), { code: 2, err: /not signed by a given key/u });
  await writeFile(join(stage.files, 'empty.note'), '');
  t.match(await info(stage, 'empty.note'), { code: 2, err: /empty\.note is not a signed checkpoint/u });
  t.match(await info(stage, 'missing.note'), { code: 2, err: /missing\.note cannot be read/u });
  const keyAlone = await runCommand(['log', 'info', '--log', stage.log, '--key', stage.key]);
  t.match(keyAlone, { code: 2, err: /--key can be used only with --checkpoint/u });
});
