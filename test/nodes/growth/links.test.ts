/** The tutorial's plugin grows through its versions on two nodes, while clients write on both. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { linksPackages } from '../../docs/links-packages.ts';
import { pluginPath } from '../../packages/package-requests.ts';
import { adminAuthorization } from '../../support/server/start-server.ts';
import { ranked } from '../support/leading.ts';
import { commentServer, startLogServer } from '../support/log-server.ts';
import { NodeProcess } from '../support/node-process.ts';

t.setTimeout(290_000);
commentServer(t);

/** TEST_LINKS: another number of links, for measurements. */
const count = Number(process.env['TEST_LINKS'] ?? 300);
const group = '/apis/links.example.com';
const json = { 'content-type': 'application/json' };
const merge = { 'content-type': 'application/merge-patch+json' };
const nameOf = (index: number): string => `link-${String(index).padStart(5, '0')}`;

type Shown = {
  readonly status?: {
    readonly version?: string;
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string }[];
    readonly migrations?: readonly { readonly id: string; readonly phase: string; readonly changed: number }[];
  };
};

type List = { readonly total: number; readonly items: readonly { readonly spec: Readonly<Record<string, unknown>> }[] };

async function upload(node: NodeProcess, route: string, archive: Buffer): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)]), 'links.tgz');
  const answer = await fetch(`${node.url}/apis/api.console.svc.run/v1alpha1/plugins/${route}`, {
    method: 'POST',
    headers: { authorization: adminAuthorization },
    body: form,
  });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Waits until the node runs this version, and its migrations are done with no object left. */
async function grown(node: NodeProcess, version: string): Promise<Shown> {
  const { text } = await node.until(
    `${pluginPath}/links`,
    ({ status, text: body }) => {
      if (status !== 200) return false;
      const { status: shown } = JSON.parse(body) as Shown;
      return (
        shown?.version === version &&
        shown.phase === 'started' &&
        (shown.migrations ?? []).every(({ phase }) => phase === 'done') &&
        (shown.conditions ?? []).every(({ type }) => type === 'Ready')
      );
    },
    { seconds: 200 },
  );
  return JSON.parse(text) as Shown;
}

/** A client that changes one link after another, until it is asked to stop. It repeats refusals that pass (503). */
class Writer {
  #stopped = false;
  written = 0;
  readonly refused: string[] = [];
  readonly #done: Promise<void>;

  constructor(node: NodeProcess, version: string) {
    this.#done = this.#run(node, `${group}/${version}/links`);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }

  async #run(node: NodeProcess, path: string): Promise<void> {
    for (let turn = 0; !this.#stopped; turn += 1) {
      const body = JSON.stringify({ spec: { priority: turn % 100 } });
      const asked = { method: 'PATCH', headers: merge, body };
      const { status, text } = await node.ask(`${path}/${nameOf((turn * 7) % count)}`, asked);
      if (status === 200) this.written += 1;
      // Two clients may write one link at the same time.
      else if (status !== 503 && status !== 409) this.refused.push(text);
    }
  }
}

async function fill(t: Test, node: NodeProcess): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    const links = Array.from({ length: Math.min(500, count - at) }, (_, index) => ({
      slug: nameOf(at + index),
      url: `https://example.com/${String(at + index)}`,
      tags: ['News', 'Daily'],
      ...(index % 2 === 0 ? { title: 'Titled' } : {}),
    }));
    const { status, text } = await node.ask('/apis/api.links.example.com/v1alpha1/links/-/import', {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ groupName: 'welcome', links }),
    });
    t.match({ status, body: JSON.parse(text) as unknown }, { status: 200, body: { created: links.length } });
  }
}

test('two nodes upgrade the plugin twice under writes, and every link is migrated and writable', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-links-nodes-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const [first, second, third] = await linksPackages(t);
  const log = await startLogServer(t);
  const start = async (name: string): Promise<NodeProcess> => {
    const node = await NodeProcess.start({ eventLog: log, folder, name, env: { WRITES_PER_USER: '0' } });
    t.teardown(async () => node.kill());
    return node;
  };
  const nodes = await ranked([await start('first'), await start('second')]);
  const [leader, other] = nodes;
  await upload(leader, 'install', first!);
  for (const node of nodes) await grown(node, '1.0.0');
  await fill(t, leader);

  const upgrade = async (version: string, archive: Buffer, clients: string): Promise<void> => {
    const writers = nodes.map((node) => new Writer(node, clients));
    const begin = performance.now();
    await upload(other, 'links/upgrade', archive);
    const served = performance.now();
    for (const node of nodes) await grown(node, version);
    const ended = performance.now();
    for (const writer of writers) await writer.stop();
    t.strictSame(
      writers.flatMap(({ refused }) => refused),
      [],
      `no write is refused for good on the way to ${version}`,
    );
    t.ok(writers.every(({ written }) => written > 0));
    const written = writers.map((writer) => writer.written).join(' and ');
    const [answerMs, allMs] = [served - begin, ended - begin].map((ms) => ms.toFixed(0));
    t.comment(
      `${version}, ${String(count)} links: answered in ${answerMs!} ms, migrated in ${allMs!} ms, ` +
        `meanwhile ${written} writes`,
    );
  };
  await upgrade('2.0.0', second!, 'v1alpha1');
  for (const node of nodes) {
    const tagged = await node.ask(`${group}/v1beta1/links?fieldSelector=spec.tags=daily&size=1`);
    t.match(JSON.parse(tagged.text) as List, { total: count, items: [{ spec: { tags: ['news', 'daily'] } }] });
    const older = await node.ask(`${group}/v1alpha1/links/${nameOf(1)}`);
    t.match(JSON.parse(older.text), { spec: { url: 'https://example.com/1' } });
  }
  await upgrade('3.0.0', third!, 'v1beta1');
  for (const node of nodes) {
    const all = await node.ask(`${group}/v1beta1/links`);
    const { items } = JSON.parse(all.text) as List;
    t.equal(items.length, count + 1, 'and the starter link');
    t.ok(items.every(({ spec }) => typeof spec['title'] === 'string' && typeof spec['target'] === 'string'));
    t.equal((await node.ask(`${group}/v1alpha1/links`)).status, 404);
  }
  const asked = { method: 'PATCH', headers: merge, body: JSON.stringify({ spec: { description: null, priority: 1 } }) };
  for (let index = 0; index < count; index += 1)
    if ((await nodes[index % 2]!.ask(`${group}/v1beta1/links/${nameOf(index)}`, asked)).status !== 200)
      t.fail(`${nameOf(index)} is not writable`);
  for (const node of [other, leader]) await node.stop();
});
