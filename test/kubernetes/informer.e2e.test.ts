import { test, type Test } from 'tap';

import { clientNode, configOf, type Informer } from '../support/kubernetes/client-node.ts';
import { kubeconfigOf } from '../support/server/kubeconfig.ts';
import { TcpProxy } from '../support/server/tcp-proxy.ts';
import {
  gadget,
  gadgets,
  gadgetsPath,
  startGadgetServer,
  type KubernetesObject,
} from '../support/kubernetes/gadgets.ts';
import { TlsCaller, type TlsAnswered } from '../support/kubernetes/tls-caller.ts';
import { Random } from '../simulation/random.ts';

const changesMin = 10_000;
const writers = 16;
const namesOfWriter = 25;

/**
 * An informer as its documentation shows it: its `error` handler starts it again, after a while. Here that is the next
 * time that a server is there.
 */
class RestartedInformer {
  readonly informer: Informer;
  readonly counts = { lists: 0, connects: 0, errors: 0, events: 0 };
  #changed: () => void = () => undefined;
  #ended = false;

  constructor(kubeconfig: string, served: () => Promise<void>, labelSelector?: string) {
    const config = configOf(kubeconfig);
    const custom = config.makeApiClient(clientNode.CustomObjectsApi);
    const list = async () => {
      this.counts.lists += 1;
      return custom.listClusterCustomObject({
        ...gadgets,
        ...(labelSelector === undefined ? {} : { labelSelector }),
      });
    };
    this.informer = clientNode.makeInformer(config, gadgetsPath, list, labelSelector);
    for (const what of ['add', 'update', 'delete'] as const)
      this.informer.on(what, () => {
        this.counts.events += 1;
        this.#changed();
      });
    this.informer.on('connect', () => {
      this.counts.connects += 1;
    });
    this.informer.on('error', () => {
      this.counts.errors += 1;
      void served().then(async () => (this.#ended ? undefined : this.informer.start()));
    });
  }

  /** The cache, as the version of each name. */
  get cache(): string {
    return versionsOf(this.informer.list());
  }

  async until(cache: string): Promise<void> {
    while (this.cache !== cache)
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.informer.stop();
  }
}

function versionsOf(objects: readonly KubernetesObject[]): string {
  return objects
    .map(({ metadata }) => `${metadata.name ?? ''}@${metadata.resourceVersion ?? ''}`)
    .sort()
    .join('\n');
}

async function listed(caller: TlsCaller, query = ''): Promise<string> {
  const { body } = await caller.call(`${gadgetsPath}${query}`);
  return versionsOf((body as { readonly items: readonly KubernetesObject[] }).items);
}

/** One writer's objects: each is created, changed, moved out of the selector and back, and deleted, by chance. */
class Writer {
  readonly #names: readonly string[];
  readonly #random: Random;
  readonly #present = new Set<string>();
  changes = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#names = Array.from({ length: namesOfWriter }, (_, index) => `g-${String(seed)}-${String(index)}`);
  }

  async change(caller: TlsCaller): Promise<void> {
    const name = this.#names[this.#random.below(namesOfWriter)]!;
    const labels = { lot: this.#random.below(2) === 0 ? 'in' : 'out' };
    const spec = { size: this.#random.below(1_000_000) };
    const path = `${gadgetsPath}/${name}`;
    if (!this.#present.has(name)) {
      this.#answered(await caller.call(gadgetsPath, { method: 'POST', body: gadget(name, spec, { labels }) }), 201);
      this.#present.add(name);
    } else if (this.#random.below(4) === 0) {
      this.#answered(await caller.call(path, { method: 'DELETE' }), 200);
      this.#present.delete(name);
    } else {
      const headers = { 'content-type': 'application/merge-patch+json' };
      const body = { metadata: { labels }, spec };
      this.#answered(await caller.call(path, { method: 'PATCH', headers, body }), 200);
    }
  }

  #answered(answer: TlsAnswered, status: number): void {
    if (answer.status !== status) throw new Error(`a change was answered with ${String(answer.status)}`);
    this.changes += 1;
  }
}

/** Between two restarts all writers write at once; connections are cut after a drawn number of changes. */
async function writeAll(caller: TlsCaller, proxy: TcpProxy, writing: readonly Writer[], random: Random) {
  const perWriter = Math.ceil(changesMin / rounds / writers);
  let untilCut = 100 + random.below(200);
  await Promise.all(
    writing.map(async (writer) => {
      for (let done = 0; done < perWriter; done += 1) {
        await writer.change(caller);
        untilCut -= 1;
        if (untilCut > 0) continue;
        untilCut = 100 + random.below(200);
        proxy.cut();
      }
    }),
  );
}

const rounds = 4;

test('informers hold what the server lists after 10,000 changes, restarts and resets', async (t: Test) => {
  const environment = { TLS: 'auto', WRITES_PER_USER: '100000', WRITE_BYTES_PER_USER: '1000000000' };
  let server = await startGadgetServer(t, environment);
  t.teardown(async () => server.remove());
  const { port } = new URL(server.url);
  const caller = await TlsCaller.to(t, server);
  const proxy = await TcpProxy.start(server.url);
  t.teardown(async () => proxy.close());
  const kubeconfig = await kubeconfigOf(server, String(proxy.port));
  let restarted: Promise<void> = Promise.resolve();
  const served = async () => restarted;
  const informers = [
    new RestartedInformer(kubeconfig, served),
    new RestartedInformer(kubeconfig, served, 'lot=in'),
  ] as const;
  for (const { informer } of informers) await informer.start();
  const writing = Array.from({ length: writers }, (_, seed) => new Writer(seed));
  const random = new Random(4711);
  for (let round = 0; round < rounds; round += 1) {
    await writeAll(caller, proxy, writing, random);
    if (round === rounds - 1) break;
    restarted = server.close().then(async () => {
      server = await startGadgetServer(t, { ...environment, PORT: port }, server.dataDir);
    });
    await restarted;
  }
  const [all, some] = informers;
  await all.until(await listed(caller));
  await some.until(await listed(caller, '?labelSelector=lot%3Din'));
  const changes = writing.reduce((sum, writer) => sum + writer.changes, 0);
  t.ok(changes >= changesMin, `${String(changes)} changes`);
  t.ok(proxy.cuts >= 20, `${String(proxy.cuts)} cuts`);
  for (const informer of informers) {
    t.equal(informer.counts.lists, 1, 'it lists once: every later start goes on from the last position');
    t.ok(informer.counts.errors >= 10);
    await informer.end();
  }
  t.not(all.cache, some.cache);
});
