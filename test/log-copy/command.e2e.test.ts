/**
 * The command as its operator runs it, on folders a server left behind: copied, killed and resumed, refused, and served
 * from afterwards.
 */
import { cp, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { systemClock } from '../../src/base/clock.ts';
import { readFounding } from '../../src/log/founded-log.ts';
import type { EventLog } from '../../src/log/log.ts';
import { openLog } from '../../src/server/open-log.ts';
import { runCommandLine, type CommandLine } from '../support/server/command-line.ts';
import { startTestServer } from '../support/server/start-server.ts';
import { drawing, killCopies } from './killed-copies.ts';
import { comparable, copiedOf, sourceId, writeSource, writtenOf } from './source-log.ts';

const seed = Number(process.env['COPY_KILL_SEED'] ?? 7);
const kills = Number(process.env['COPY_KILLS'] ?? 8);

async function folder(t: Test): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-copy-'));
  t.teardown(async () => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function withLog<T>(dataDir: string, work: (log: EventLog) => Promise<T>): Promise<T> {
  const { log } = await openLog(
    { eventLog: { kind: 'embedded' }, dataDir },
    {
      clock: systemClock,
      onFatal: (error) => {
        throw error;
      },
      onState: () => undefined,
    },
  );
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

type Ended = { readonly code: unknown; readonly out: string; readonly err: string };

async function ended(command: CommandLine): Promise<Ended> {
  const code = await command.exited();
  return { code, out: command.stdout(), err: command.stderr() };
}

const copyArgs = (from: string, to: string): string[] => [
  'log',
  'copy',
  '--from',
  `embedded:${from}`,
  '--to',
  `embedded:${to}`,
];

test('an embedded log is copied into another folder, and again changes nothing', async (t) => {
  const dir = await folder(t);
  const events = await withLog(join(dir, 'one'), async (log) => writeSource(log, writtenOf(2_000)));
  const first = await ended(runCommandLine(copyArgs('one', 'two'), { cwd: dir }));
  t.same(first.code, 0, first.err);
  t.match(
    first.out,
    new RegExp(
      `^embedded:\\S+two is now a complete copy of embedded:\\S+one: ${String(events.length)} events, log ` +
        '[0-9a-f-]{36}, epoch 1\\n$',
      'u',
    ),
  );
  t.match(
    first.err,
    new RegExp(
      String.raw`reading the source: [\d,]+ events in .*\n(?:.*\n)*copying: [\d,]+ events in ` +
        String.raw`.*\n(?:.*\n)*verifying: [\d,]+ events in `,
      'u',
    ),
  );
  t.strictSame(comparable(await withLog(join(dir, 'two'), copiedOf)), comparable(events));
  const second = await ended(runCommandLine(copyArgs('one', 'two'), { cwd: dir }));
  t.match(second, { code: 0, out: /was already a complete copy/u });

  t.test('info prints the content of the log', async (t) => {
    const info = await ended(runCommandLine(['log', 'info', '--log', 'embedded:two'], { cwd: dir }));
    t.match(info, {
      code: 0,
      out: new RegExp(
        `^log +embedded:\\S+two\\nid +[0-9a-f-]{36}\\ndomain +svc\\.run\\nepoch +1 \\(copied from log ${sourceId}, ` +
          `epoch 0\\)\\nevents +${String(events.length + 2)}\\nhead +1\\d{19}\\n` +
          'tree +\\d+ leaves with root \\S+=\\n$',
        'u',
      ),
    });
    t.match(await ended(runCommandLine(['log', 'info'], { cwd: dir, env: { DATA_DIR: 'one' } })), {
      code: 0,
      out: /\nepoch +0 \(founded\)\n/u,
    });
  });

  t.test('and back, in words that no list of processes shows', async (t) => {
    const back = await ended(
      runCommandLine(['log', 'copy'], {
        cwd: dir,
        env: { LEDGERPLANE_COPY_FROM: 'embedded:two', LEDGERPLANE_COPY_TO: 'embedded:', DATA_DIR: 'three' },
      }),
    );
    t.match(back, { code: 0, out: /epoch 2\n$/u });
    t.strictSame(comparable(await withLog(join(dir, 'three'), copiedOf)), comparable(events));
  });
});

test('a copy killed at any instant is resumed, and is then the same', async (t) => {
  const dir = await folder(t);
  const events = await withLog(join(dir, 'one'), async (log) => writeSource(log, writtenOf(10_000)));
  let target = 'two';
  const copy = await killCopies(t, {
    kills,
    drawn: drawing(seed),
    cwd: dir,
    freshCopy: async () => copyArgs('one', (target = `${target}+`)),
  });
  const last = await ended(runCommandLine(copy, { cwd: dir }));
  t.same(last.code, 0, last.err);
  t.strictSame(comparable(await withLog(join(dir, target), copiedOf)), comparable(events));
  t.match(await withLog(join(dir, target), readFounding), { finished: true, copied: events.length });
});

test('what cannot be meant is refused with 2, in one line, and nothing is written', async (t) => {
  const dir = await folder(t);
  await withLog(join(dir, 'one'), async (log) => writeSource(log, writtenOf(50)));
  const refusal = async (
    args: readonly string[],
    err: RegExp,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    const command = await ended(runCommandLine(args, { cwd: dir, env }));
    t.match(command, { code: 2, out: '', err }, args.join(' '));
    t.notMatch(command.err, /\n {4}at |hunter2/u, 'no stack, no password');
  };
  await refusal(['log', 'copy', '--to', 'embedded:two'], /no source log is given: use --from/u);
  await refusal(['log', 'copy', '--from', 'embedded:one'], /no target log is given: use --to/u);
  await refusal(copyArgs('one', 'one'), /the same log/u);
  await refusal(copyArgs('nowhere', 'two'), /nowhere has no log/u);
  await refusal(
    ['log', 'copy', '--from', 'mysql://u:hunter2@h', '--to', 'embedded:two'],
    /--from must be embedded: or esdb/u,
  );
  await refusal(['log', 'copy', '--from', 'embedded:one', '--to', 'two'], /--to must be embedded: or esdb/u);
  await refusal([...copyArgs('one', 'two'), '--in-flight', '0'], /--in-flight must be a whole number from 1/u);
  await refusal(['log', 'info', '--log', 'esdb://u:hunter2@h:port'], /--log /u);
  await refusal(['log', 'info'], /EVENT_LOG /u, { EVENT_LOG: 'esdb://u:hunter2@' });
  await t.rejects(stat(join(dir, 'two')), 'no folder was made');
});

test('a folder that a server runs on is refused', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const dir = await folder(t);
  for (const args of [
    copyArgs(server.dataDir, 'two'),
    ['log', 'info', '--log', `embedded:${server.dataDir}`],
    ['log', 'new-epoch', '--log', `embedded:${server.dataDir}`],
  ]) {
    t.match(await ended(runCommandLine(args, { cwd: dir })), {
      code: 2,
      err: /another server is running on DATA_DIR/u,
    });
  }
});

test('a damaged source is refused', async (t) => {
  const dir = await folder(t);
  await withLog(join(dir, 'one'), async (log) => writeSource(log, writtenOf(3_000)));
  const file = join(dir, 'one', 'log', 'data.mdb');
  await cp(join(dir, 'one'), join(dir, 'cut'), { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await truncate(join(dir, 'cut', 'log', 'data.mdb'), 20_000);
  t.match(await ended(runCommandLine(copyArgs('cut', 'two'), { cwd: dir })), { code: 2, err: /data\.mdb is damaged/u });

  const bytes = await readFile(file);
  const at = bytes.indexOf('"place":1500,');
  bytes.write('"place":1501,', at);
  await writeFile(file, bytes);
  t.match(await ended(runCommandLine(copyArgs('one', 'two'), { cwd: dir })), {
    code: 2,
    err: /the source is damaged: .*has a wrong checksum/u,
  });
  t.equal(await withLog(join(dir, 'two'), readFounding), undefined, 'nothing was written');
});

test('a server on the copy serves the same objects, passwords and history, and no older credentials', async (t) => {
  const one = await startTestServer();
  const widgets = '/apis/example.com/v1alpha1/widgets';
  t.equal(
    (
      await one.call(widgets, {
        method: 'POST',
        body: { metadata: { name: 'lamp' }, spec: { title: 'Lamp', serial: 'A-1' } },
      })
    ).status,
    201,
  );
  t.equal(
    (
      await one.call(`${widgets}/lamp`, {
        method: 'PATCH',
        body: { spec: { size: 4 } },
        headers: { 'content-type': 'application/merge-patch+json' },
      })
    ).status,
    200,
  );
  t.equal(
    (
      await one.call('/api/v1alpha1/users', {
        method: 'POST',
        body: { metadata: { name: 'jane' }, spec: { password: 'jane-has-a-secret' } },
      })
    ).status,
    201,
  );
  const before = (await (await one.call(widgets)).json()) as {
    readonly metadata: { readonly resourceVersion: string };
    readonly items: readonly { readonly metadata: Record<string, unknown> }[];
  };
  await one.restart().then((again) => again.close());

  const dir = await folder(t);
  t.match(await ended(runCommandLine(copyArgs(one.dataDir, 'two'), { cwd: dir })), { code: 0 });
  const two = await startTestServer({ dataDir: join(dir, 'two') });
  t.teardown(async () => two.close());
  const after = (await (await two.call(widgets)).json()) as typeof before;
  const shown = ({ items }: typeof before): readonly unknown[] =>
    items.map((item) => ({ ...item, metadata: { ...item.metadata, resourceVersion: undefined } }));
  t.strictSame(shown(after), shown(before));
  t.ok(BigInt(after.metadata.resourceVersion) > 10n ** 19n, 'positions are an epoch later');
  const jane = `Basic ${Buffer.from('jane:jane-has-a-secret').toString('base64')}`;
  t.equal(
    (await two.call('/apis/uc.api.svc.run/v1alpha1/users/-', { headers: { authorization: jane } })).status,
    200,
    'the password counts',
  );
  t.equal(
    (
      await two.call(widgets, {
        method: 'POST',
        body: { metadata: { name: 'copy' }, spec: { title: 'Copy', serial: 'A-1' } },
      })
    ).status,
    409,
    'unique values are held',
  );

  const watched = await two.call(
    `${widgets}?watch=true&timeoutSeconds=1&resourceVersion=${before.metadata.resourceVersion}`,
  );
  t.match(await watched.text(), /"code":410/u, 'a watch from an old position is refused as expired');
  t.equal(
    (await two.call(`${widgets}?resourceVersion=${before.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`))
      .status,
    410,
  );
  const whole = await two.call(`${widgets}?watch=true&timeoutSeconds=1`);
  t.match(await whole.text(), /"type":"ADDED".*"name":"lamp"/u);
  await rm(one.dataDir, { recursive: true, force: true });
});

test('after a restore in place a new epoch expires earlier positions, and read models are rebuilt', async (t) => {
  const server = await startTestServer();
  const dir = await folder(t);
  const version = (
    (await (await server.call('/api/v1alpha1/users')).json()) as {
      readonly metadata: { readonly resourceVersion: string };
    }
  ).metadata.resourceVersion;
  await server.restart().then((again) => again.close());
  t.match(await ended(runCommandLine(['log', 'new-epoch', '--log', `embedded:${server.dataDir}`], { cwd: dir })), {
    code: 0,
    out: /is in epoch 1\n$/u,
  });
  t.match(await ended(runCommandLine(['log', 'new-epoch'], { cwd: dir, env: { DATA_DIR: server.dataDir } })), {
    code: 0,
    out: /is in epoch 2\n$/u,
  });
  t.match(await ended(runCommandLine(['log', 'new-epoch', '--log', 'embedded:none'], { cwd: dir })), {
    code: 2,
    err: /has no log/u,
  });
  const again = await startTestServer({ dataDir: server.dataDir });
  t.teardown(async () => again.remove());
  t.equal(
    (await again.call(`/api/v1alpha1/users?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`)).status,
    410,
  );
});
