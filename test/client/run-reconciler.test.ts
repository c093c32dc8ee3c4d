import { test, type Test } from 'tap';

import { widget, type Widget } from '../../plugins/example/widget.ts';
import {
  connect,
  defineReconciler,
  runReconciler,
  type RemoteClient,
  type RunOptions,
} from '../../src/client/node/node.ts';
import { startTestServer } from '../support/server/start-server.ts';
import { tokenOf } from './client-token.ts';
import { rejection, ScriptedServer, status, until } from './scripted-server.ts';
import { TcpProxy } from '../support/server/tcp-proxy.ts';

const finalizer = 'example.com/outside';

type Given = { readonly client: RemoteClient; readonly proxy: TcpProxy; readonly restart: () => Promise<void> };

async function given(t: Test): Promise<Given> {
  let server = await startTestServer();
  const proxy = await TcpProxy.start(server.url);
  t.teardown(async () => {
    await proxy.close();
    await server.remove();
  });
  const restart = async (): Promise<void> => {
    server = await server.restart();
    proxy.target = Number(new URL(server.url).port);
  };
  return { client: connect({ url: proxy.url, token: await tokenOf(server), chance: () => 0.1 }), proxy, restart };
}

function noting(): { readonly lines: string[]; readonly log: NonNullable<RunOptions['log']> } {
  const lines: string[] = [];
  const note = (message: string, fields: object = {}): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  return { lines, log: { debug: note, info: note, warn: note, error: note } };
}

test('it reconciles all names, then those that change, with finalizers, through a restart', async (t) => {
  const { client, proxy, restart } = await given(t);
  const released: string[] = [];
  const reconciler = defineReconciler({
    type: widget,
    reconcile: async ({ name, object, pluginClient }) => {
      if (object === undefined) return;
      const { finalizers = [], deletionTimestamp, resourceVersion } = object.metadata;
      if (deletionTimestamp !== undefined) {
        released.push(name);
        const rest = finalizers.filter((each) => each !== finalizer);
        await pluginClient.patch(widget, name, { metadata: { finalizers: rest } }, { resourceVersion });
      } else if (!finalizers.includes(finalizer))
        await pluginClient.patch(
          widget,
          name,
          { metadata: { finalizers: [...finalizers, finalizer] } },
          { resourceVersion },
        );
      else if (object.metadata.labels?.['size'] !== String(object.spec.size))
        await pluginClient.patch(widget, name, { metadata: { labels: { size: String(object.spec.size) } } });
    },
  });
  const make = async (name: string): Promise<Widget> =>
    client.create(widget, { metadata: { name }, spec: { title: name, size: 3 } });
  await make('before');
  const running = runReconciler(reconciler, { client, log: noting().log });
  await running.synced;
  await make('after');
  const isDone = async (name: string): Promise<boolean> =>
    (await client.get(widget, name))?.metadata.labels?.['size'] === '3';
  const informer = client.informer(widget);
  await until(() => ['before', 'after'].every((name) => informer.get(name)?.metadata.labels?.['size'] === '3'));
  await restart();
  proxy.cut();
  await until(() => proxy.connections > 0);
  await make('later');
  await until(() => informer.get('later')?.metadata.labels?.['size'] === '3');
  t.ok(await isDone('later'));
  await client.delete(widget, 'later');
  await until(() => informer.get('later') === undefined);
  t.ok(released.includes('later'));
  await running.idle();
  t.ok(running.counts.settled > 0);
  informer.stop();
  await running.stop();
});

test('one step at a time for a name; failures and `again` come back', async (t) => {
  const { client } = await given(t);
  const { lines, log } = noting();
  const steps: string[] = [];
  let [inside, most] = [0, 0];
  const reconciler = defineReconciler({
    type: widget,
    concurrency: 4,
    reconcile: async ({ name, object }) => {
      inside += 1;
      most = Math.max(most, inside);
      await client.list(widget);
      inside -= 1;
      steps.push(`${name} ${object === undefined ? 'gone' : 'there'}`);
      const times = steps.filter((each) => each.startsWith(name)).length;
      if (name === 'failing' && times < 3) throw new Error('not yet');
      return name === 'again' && times < 3 ? { type: 'again', afterMs: 10 } : undefined;
    },
  });
  for (const name of ['failing', 'again', 'fine'])
    await client.create(widget, { metadata: { name }, spec: { title: name } });
  const running = runReconciler(reconciler, { client, log });
  await running.synced;
  await until(() => steps.length >= 7);
  await running.idle();
  t.strictSame(
    steps.sort(),
    [...Array<string>(3).fill('again there'), ...Array<string>(3).fill('failing there'), 'fine there'].sort(),
  );
  t.ok(most > 1 && most <= 4, 'several names at once');
  t.same(running.failing, new Map());
  t.match(lines[0], /a reconciler failed .*"name":"failing","attempts":1,"error":"Error: not yet/u);
  await client.delete(widget, 'fine');
  await until(() => steps.includes('fine gone'));
  await running.stop();
});

test('watched types concern names, and a mapping that throws concerns all', async (t) => {
  const { client } = await given(t);
  const { lines, log } = noting();
  const users = { group: '', version: 'v1alpha1', plural: 'users' };
  const steps: string[] = [];
  let isBroken = false;
  const reconciler = defineReconciler({
    type: widget,
    reconcile: ({ name }) => {
      steps.push(name);
      return undefined;
    },
    watches: [
      {
        type: users,
        names: ({ metadata }) => {
          if (isBroken) throw new Error('broken');
          return metadata.name === 'ann' ? ['one'] : [];
        },
      },
    ],
  });
  for (const name of ['one', 'two']) await client.create(widget, { metadata: { name }, spec: { title: name } });
  const running = runReconciler(reconciler, { client, log });
  await running.synced;
  await running.idle();
  t.strictSame(steps.splice(0).sort(), ['one', 'two']);
  await client.create(users, { metadata: { name: 'ann' }, spec: { password: 'long enough to be one' } });
  await until(() => steps.length > 0);
  await running.idle();
  t.ok(steps.every((name) => name === 'one'));
  steps.splice(0);
  isBroken = true;
  await client.patch(users, 'ann', { metadata: { labels: { a: 'b' } } });
  await until(() => steps.includes('one') && steps.includes('two'));
  t.match(lines[0], /could not map a change to names of objects .*"changed":"ann".*broken/u);
  await running.stop();
});

test('a stop aborts the steps, whose client then refuses', async (t) => {
  const { client } = await given(t);
  await client.create(widget, { metadata: { name: 'one' }, spec: { title: 'one' } });
  let late: unknown;
  const over = new AbortController();
  let begun = (): void => undefined;
  const began = new Promise<void>((resolve) => (begun = resolve));
  const reconciler = defineReconciler({
    type: widget,
    reconcile: async ({ signal, pluginClient }) => {
      begun();
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve, { once: true });
      });
      await stopped;
      late = await rejection(pluginClient.get(widget, 'one'));
    },
  });
  const running = runReconciler(reconciler, { client, log: noting().log, signal: over.signal, clock: atOnce });
  await running.synced;
  await began;
  let hasStopped = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (hasStopped = resolve));
  over.abort();
  await running.stop();
  hasStopped();
  await until(() => late !== undefined);
  t.match(late, { name: 'ClientError', reason: 'Forbidden', message: /has stopped/u });
});

/** Time limits of steps never pass; the wait of a stop does at once. */
const atOnce = {
  now: () => 0,
  monotonic: () => 0,
  after: (ms: number, task: () => void) => {
    const handle = ms === 5_000 ? setImmediate(task) : undefined;
    return {
      cancel: () => {
        clearImmediate(handle);
      },
    };
  },
};

test('objects that may not be read are a failure of the whole', async (t) => {
  const server = await ScriptedServer.start(t);
  const { lines, log } = noting();
  const reconciler = defineReconciler({ type: widget, reconcile: () => undefined });
  const running = runReconciler(reconciler, { client: server.client(), log });
  (await server.asked()).json(403, status(403, 'Forbidden'));
  t.match(await rejection(running.synced), { status: 403 });
  t.match(lines.join('\n'), /a reconciler cannot read its objects/u);
  await running.stop();
  t.throws(() => runReconciler({ ...reconciler, concurrency: 17 }, { client: server.client() }), TypeError);
});
