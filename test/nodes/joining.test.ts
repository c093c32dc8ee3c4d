/** Nodes that join a log with events of others, or return to it: their answers before and after they have caught up. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test } from 'tap';
import type { Test } from 'tap';

import { basic } from '../support/ask.ts';
import { eventsOf } from '../support/memory/event-log.ts';
import { spawnEventStore, type EventStoreProcess } from '../support/eventstore/eventstore-process.ts';
import { holdBack } from './support/held-back.ts';
import { NodeProcess } from './support/node-process.ts';
import { widgetsPath } from './support/widget-model.ts';
import { Writer } from './support/writer.ts';

t.setTimeout(280_000);

const writers = 32;

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-joining-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

type Given = { readonly store: EventStoreProcess; readonly folder: string; readonly first: NodeProcess };

async function given(t: Test, { file }: { readonly file?: string } = {}): Promise<Given> {
  const folder = folderOf(t);
  const store = await spawnEventStore({ file: file ?? join(folder, 'log') });
  t.teardown(async () => store.stop());
  const first = await NodeProcess.start({ eventLog: store, folder, name: 'first' });
  t.teardown(async () => first.kill());
  return { store, folder, first };
}

/** Writers that continue until they are stopped. */
function writeOn(node: NodeProcess): {
  readonly written: (count: number) => Promise<void>;
  readonly stop: () => Promise<readonly Writer[]>;
} {
  const progress = { count: 0, stopped: false, woken: (): void => undefined };
  const crowd = Array.from({ length: writers }, (_, index) => new Writer(`w-${index.toString()}`, [node], 0));
  const running = Promise.all(
    crowd.map(async (writer) => {
      while (!progress.stopped) {
        await writer.write(() => progress.stopped);
        progress.count += 1;
        progress.woken();
      }
    }),
  );
  return {
    written: async (count) => {
      const wanted = progress.count + count;
      while (progress.count < wanted)
        await new Promise<void>((resolve) => {
          progress.woken = resolve;
        });
    },
    stop: async () => {
      progress.stopped = true;
      await running;
      return crowd;
    },
  };
}

type Shown = { readonly metadata: { readonly resourceVersion: string } };

/** Both show the same bytes once the second knows all that the first does. */
async function agree(t: Test, one: NodeProcess, other: NodeProcess): Promise<void> {
  for (const path of [
    widgetsPath,
    '/api/v1alpha1/users',
    '/api/v1alpha1/roles',
    '/api/v1alpha1/rolebindings',
    '/apis/plugin.svc.run/v1alpha1/plugins',
  ]) {
    const {
      metadata: { resourceVersion },
    } = JSON.parse((await one.ask(path)).text) as Shown;
    // A node that is late says so (504), however long a busy machine makes that take.
    const asked = [one, other].map(async (node) =>
      node.until(`${path}?resourceVersion=${resourceVersion}`, ({ status }) => status !== 504),
    );
    const [left, right] = await Promise.all(asked);
    t.equal(left!.status, 200, `${path}: ${left!.text.slice(0, 200)}`);
    const items = ({ text }: { readonly text: string }): string => text.slice(text.indexOf('"items":'));
    t.equal(items(right!), items(left!), `${path}: the same bytes`);
  }
}

/** Until it is ready a node answers 503 to everything but probes; `onSaid` receives the texts of /readyz meanwhile. */
async function watchStart(t: Test, node: NodeProcess, onSaid: (text: string) => void = () => undefined): Promise<void> {
  const state = { isReady: false };
  const ready = node.ready().then(() => {
    state.isReady = true;
  });
  await node.until('/healthz', ({ status }) => status === 200);
  while (!state.isReady) {
    const [read, write, readiness] = await Promise.all([
      node.ask(widgetsPath),
      node.ask(`${widgetsPath}/nobody`, { method: 'DELETE' }),
      node.ask('/readyz'),
    ]);
    if (readiness.status === 200) break;
    onSaid(readiness.text);
    for (const { status, headers, text } of [read, write]) {
      // It may have become ready between the two.
      if (status === 503 ? headers['retry-after'] === undefined : (await node.ask('/readyz')).status !== 200)
        t.fail(`served before it was ready: ${status.toString()} ${text}`);
    }
  }
  await ready;
}

test('a fresh node serves nothing before it has caught up with a busy log, and then the same as others', async (t) => {
  const { store, folder, first } = await given(t);
  const writing = writeOn(first);
  await writing.written(800);
  // Until it was asked on its way it gets no more than a part of the log.
  const way = await holdBack(t, { port: store.port, bytes: 131_072 });
  const second = await NodeProcess.launch({ eventLog: way, folder, name: 'second' });
  t.teardown(async () => second.kill());
  let isReported = false;
  await watchStart(t, second, (text) => {
    if (isReported || !/read models are catching up: \d+ %/u.test(text)) return;
    isReported = true;
    way.letGo();
  });
  t.ok(isReported, 'progress is reported');
  const crowd = await writing.stop();
  t.strictSame(
    crowd.flatMap(({ offences }) => offences),
    [],
  );
  await agree(t, first, second);
  for (const node of [first, second]) await node.stop();
});

test('a node returns with its read models, without them, and after a kill', async (t) => {
  const { store, folder, first } = await given(t);
  const second = await NodeProcess.start({ eventLog: store, folder, name: 'second' });
  t.teardown(async () => second.kill());
  const ends = [
    { what: 'stopped', end: async (node: NodeProcess) => node.stop() },
    { what: 'killed', end: async (node: NodeProcess) => node.kill() },
    {
      what: 'stopped, its read models lost',
      end: async (node: NodeProcess) => {
        await node.stop();
        rmSync(join(node.dataDir, 'read-models'), { recursive: true });
      },
    },
    {
      what: 'its whole DATA_DIR lost',
      end: async (node: NodeProcess) => {
        await node.kill();
        rmSync(node.dataDir, { recursive: true });
      },
    },
  ];
  let coming = second;
  for (const { what, end } of ends) {
    await end(coming);
    const writing = writeOn(first);
    await writing.written(100);
    await writing.stop();
    // The same widgets again: their writers begin anew.
    await first.ask(widgetsPath, { method: 'DELETE' });
    coming = await coming.again();
    const node = coming;
    t.teardown(async () => node.kill());
    await watchStart(t, coming);
    t.comment(what);
    await first.until(widgetsPath, ({ text }) => text.includes('"items":[]'));
    await agree(t, first, coming);
  }
  for (const node of [first, coming]) await node.stop();
});

test('a node with read models of another log, or ahead of this one, does not start', async (t) => {
  const { store, folder, first } = await given(t);
  const writing = writeOn(first);
  await writing.written(50);
  await writing.stop();
  await first.stop();
  await store.stop();
  const other = await spawnEventStore({ file: join(folder, 'another-log') });
  t.teardown(async () => other.stop());
  // Empty: it is founded, as nobody can know that it was not meant.
  const founder = await NodeProcess.start({ eventLog: other, folder, name: 'founder' });
  await founder.stop();
  const refused = await first.again({ eventLog: other });
  t.equal(await refused.exited, 2);
  t.equal(refused.stdout(), '');
  const lines = refused
    .stderr()
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('ledgerplane: '));
  t.equal(lines.length, 1);
  t.match(lines[0], /read models do not belong to this log.*remove .*read-models/u);
});

test('a running node stops when its log is replaced by another one', async (t) => {
  const { store, folder, first } = await given(t);
  const writing = writeOn(first);
  await writing.written(20);
  await writing.stop();
  const port = store.port;
  await store.stop();
  const other = await spawnEventStore({ port, file: join(folder, 'another-log') });
  t.teardown(async () => other.stop());
  const ended = await first.exited;
  t.not(ended, 0);
  t.match(first.stderr(), /the log was replaced|do not belong to this log/u);
});

test('two nodes that start on an empty log found it once, create one administrator, and both serve', async (t) => {
  const folder = folderOf(t);
  const store = await spawnEventStore({ file: join(folder, 'log') });
  t.teardown(async () => store.stop());
  const nodes = await Promise.all(
    ['first', 'second', 'third'].map(async (name) =>
      NodeProcess.launch({ eventLog: store, folder, name, env: { ADMIN_PASSWORD: '' } }),
    ),
  );
  for (const node of nodes) t.teardown(async () => node.kill());
  await Promise.all(nodes.map(async (node) => node.ready()));
  const lines = nodes.map((node) =>
    node
      .stderr()
      .split('\n')
      .filter((line) => line.includes('super administrator') && line.includes('admin-password')),
  );
  t.equal(lines.flat().length, 1, 'one of them reports the path of its password', { lines });
  const made = nodes[lines.findIndex(({ length }) => length > 0)]!;
  const authorization = basic('admin', readFileSync(join(made.dataDir, 'admin-password'), 'utf8').trim());
  const answers = await Promise.all(
    nodes.map(async (node) => node.ask('/api/v1alpha1/users', { headers: { authorization } })),
  );
  for (const { status, text } of answers) {
    t.equal(status, 200);
    t.equal((JSON.parse(text) as { readonly total: number }).total, 1, 'there is one user');
  }
  const founding = (await eventsOf(store)).filter(({ stream }) => stream === 'platform:log');
  t.strictSame(
    founding.map(({ type }) => type),
    ['EpochStarted'],
  );
  for (const node of nodes) await node.stop();
});
