import { test, type Test } from 'tap';

import { widget, type Widget } from '../../plugins/example/widget.ts';
import { connect, type RemoteClient, type WatchEvent } from '../../src/client/client.ts';
import { Random } from '../simulation/random.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { tokenOf } from './client-token.ts';
import { until } from './scripted-server.ts';
import { TcpProxy } from '../support/server/tcp-proxy.ts';

const writesOfOneRun = 700;
const names = Array.from({ length: 40 }, (_, index) => `w${String(index)}`);

/** A server that is restarted, behind a proxy that cuts connections. */
class Stage {
  server: TestServer;
  readonly proxy: TcpProxy;
  readonly random: Random;
  readonly client: RemoteClient;
  restarts = 0;

  private constructor(server: TestServer, proxy: TcpProxy, { seed, token }: { seed: number; token: string }) {
    this.server = server;
    this.proxy = proxy;
    this.random = new Random(seed);
    const chance = (): number => this.random.next() / 10;
    this.client = connect({ url: proxy.url, token, chance });
  }

  static async open(t: Test, seed: number): Promise<Stage> {
    const server = await startTestServer();
    const proxy = await TcpProxy.start(server.url);
    const stage = new Stage(server, proxy, { seed, token: await tokenOf(server) });
    t.teardown(async () => {
      await proxy.close();
      await stage.server.remove();
    });
    return stage;
  }

  /** Writes at random, past the proxy, while connections are cut and the server is restarted between writes. */
  async trouble(): Promise<void> {
    for (let count = 0; count < writesOfOneRun; count += 1) {
      await this.#write();
      if (this.random.chance(0.02)) this.proxy.cut();
      if (count % 250 === 120) await this.#restart();
    }
  }

  async #write(): Promise<void> {
    const { random, server } = this;
    const name = random.pick(names);
    const path = `/apis/example.com/v1alpha1/widgets`;
    const spec = { title: name, size: random.below(1_000) };
    const labels = { team: random.pick(['red', 'blue']) };
    if (random.chance(0.3)) await (await server.call(`${path}/${name}`, { method: 'DELETE' })).text();
    else if (random.chance(0.5))
      await (await server.call(path, { method: 'POST', body: { metadata: { name, labels }, spec } })).text();
    else {
      const headers = { 'content-type': 'application/merge-patch+json' };
      const answer = await server.call(`${path}/${name}`, {
        method: 'PATCH',
        headers,
        body: { metadata: { labels }, spec },
      });
      await answer.text();
    }
  }

  /** Half of the time connections are refused meanwhile. */
  async #restart(): Promise<void> {
    if (this.random.chance(0.5)) this.proxy.target = undefined;
    this.server = await this.server.restart();
    this.proxy.target = Number(new URL(this.server.url).port);
    this.restarts += 1;
  }
}

function shown(objects: readonly Widget[]): readonly string[] {
  return objects.map((one) => JSON.stringify(one)).sort();
}

for (const seed of [1, 2])
  test(`a cache equals the server's list after cuts, restarts and changes (seed ${String(seed)})`, async (t) => {
    const stage = await Stage.open(t, seed);
    const { client } = stage;
    const all = client.informer(widget, { indexes: { team: ({ metadata }) => metadata.labels?.['team'] } });
    const red = client.informer(widget, { labelSelector: 'team=red' });
    const followed = new Map<string, Widget>();
    const problems: string[] = [];
    all.on({
      add: (one) => {
        if (followed.has(one.metadata.name)) problems.push(`added twice: ${one.metadata.name}`);
        followed.set(one.metadata.name, one);
      },
      update: (one, before) => {
        const known = followed.get(one.metadata.name);
        if (known !== before) problems.push(`the old state is another: ${one.metadata.name}`);
        if (before.metadata.resourceVersion === one.metadata.resourceVersion) problems.push('a repeat');
        followed.set(one.metadata.name, one);
      },
      delete: (one) => {
        if (!followed.delete(one.metadata.name)) problems.push(`deleted twice: ${one.metadata.name}`);
      },
    });
    const over = new AbortController();
    const positions: bigint[] = [];
    const watching = watched(client.watch(widget, { from: { resourceVersion: '1' }, signal: over.signal }), positions);
    await Promise.all([all.synced, red.synced]);
    await stage.trouble();
    t.equal(stage.restarts, 3);
    const { items, resourceVersion } = await connect({
      url: stage.server.url,
      token: await tokenOf(stage.server),
    }).list(widget);
    const last = items.reduce(
      (most, { metadata }) => (BigInt(metadata.resourceVersion) > most ? BigInt(metadata.resourceVersion) : most),
      0n,
    );
    t.ok(BigInt(resourceVersion) >= last);
    await until(
      () => sameAs(all.list(), items) && sameAs(red.list(), items.filter(isRed)) && (positions.at(-1) ?? 0n) >= last,
    );
    t.same(shown(all.list()), shown(items));
    t.same(shown([...followed.values()]), shown(items), 'the handlers add up to the list');
    t.same(shown(red.list()), shown(items.filter(isRed)));
    t.same(shown(all.by('team', 'red')), shown(items.filter(isRed)));
    t.strictSame(problems, []);
    t.strictSame(
      positions,
      [...new Set(positions)].sort((one, other) => (one < other ? -1 : 1)),
      'no repeat, in order',
    );
    over.abort();
    await watching;
    all.stop();
    red.stop();
  });

function isRed({ metadata }: Widget): boolean {
  return metadata.labels?.['team'] === 'red';
}

function sameAs(cached: readonly Widget[], listed: readonly Widget[]): boolean {
  return cached.length === listed.length && JSON.stringify(shown(cached)) === JSON.stringify(shown(listed));
}

/** A watch from a position: every event of the log, each once. */
async function watched(events: AsyncIterable<WatchEvent<Widget>>, positions: bigint[]): Promise<void> {
  try {
    for await (const event of events)
      if (event.type !== 'BOOKMARK') positions.push(BigInt(event.object.metadata.resourceVersion));
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  }
}
