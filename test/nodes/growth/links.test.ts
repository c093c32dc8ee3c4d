/** The tutorial's plugin grows through its versions on two nodes, while clients write, read and watch on both. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { upgradeWaitMs } from '../../../src/limits/writes.ts';
import { linksPackages } from '../../docs/links-packages.ts';
import { pluginPath } from '../../packages/package-requests.ts';
import { adminAuthorization } from '../../support/server/start-server.ts';
import { ranked } from '../support/leading.ts';
import { commentServer, startLogServer } from '../support/log-server.ts';
import { NodeProcess } from '../support/node-process.ts';
import { alpha, beta, group, LinkClients, type Link, type LinkList, type Spoken } from './link-clients.ts';
import { RecordedWrites } from './recorded-writes.ts';

t.setTimeout(590_000);
commentServer(t);

/** TEST_LINKS: another number of links; 5,000 take about four minutes. */
const count = Number(process.env['TEST_LINKS'] ?? 1_000);
const json = { 'content-type': 'application/json' };
const merge = { 'content-type': 'application/merge-patch+json' };
const nameOf = (index: number): string => `link-${String(index).padStart(5, '0')}`;
const names = Array.from({ length: count }, (_, index) => nameOf(index));
/** Version 3.0.0 also gets a member that is required and has a default. */
const requireVisibility =
  'sed -i.bak "s|^  priority: ' +
  `|  visibility: { type: 'string', enum: ['public', 'hidden'], default: 'public' },\\n&|" ` +
  `src/link-members.ts && sed -i.bak "s|required: \\['target', |&'visibility', |" src/link.ts && rm src/*.bak`;

type Shown = {
  readonly status?: {
    readonly version?: string;
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string }[];
    readonly migrations?: readonly { readonly id: string; readonly phase: string; readonly changed: number }[];
  };
};

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

async function fill(t: Test, node: NodeProcess): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    const links = names.slice(at, at + 500).map((slug, index) => ({
      slug,
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

async function listed(node: NodeProcess, { version }: Spoken): Promise<LinkList> {
  return JSON.parse((await node.ask(`${group}/${version}/links`)).text) as LinkList;
}

/** Writes each link once in this version, through both nodes in turn, and returns the responses that refuse. */
async function refusedWrites(
  nodes: readonly NodeProcess[],
  { version }: Spoken,
  all: readonly string[],
): Promise<readonly string[]> {
  const refused: string[] = [];
  const waiting = [...all.entries()];
  const body = JSON.stringify({ spec: { priority: 1 } });
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [index, name] = next;
      const asked = { method: 'PATCH', headers: merge, body };
      const answer = await nodes[index % nodes.length]!.ask(`${group}/${version}/links/${name}`, asked);
      if (answer.status !== 200) refused.push(`${name}: ${answer.text}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return refused;
}

function textOf(links: readonly Link[]): string {
  return JSON.stringify([...links].sort((one, two) => (one.metadata.name < two.metadata.name ? -1 : 1)));
}

/** An upgrade alone sends no events, so an informer may have the last state of a link in the form of older files. */
function versionsOf(links: readonly Link[]): string {
  return JSON.stringify(links.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort());
}

/** Returns whether this holds within 30 s. */
async function comesTrue(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline;) {
    if (await holds()) return true;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  return false;
}

/** Every acknowledged write is in the list, both nodes have the same list, and so have the informers. */
async function checkStates(t: Test, { nodes, clients, spoken, recorded }: Checked): Promise<readonly string[]> {
  let items: readonly Link[] = [];
  const agree = async (): Promise<boolean> => {
    const [one, two] = await Promise.all(nodes.map(async (node) => listed(node, spoken)));
    items = one!.items;
    return textOf(items) === textOf(two!.items);
  };
  t.ok(await comesTrue(agree), 'both nodes have the same links');
  const states = new Map(items.map((link) => [link.metadata.name, link]));
  const lost = recorded.names().filter((name) => !recorded.allows(name, states.get(name)?.metadata.labels?.['turn']));
  t.strictSame(lost, [], 'no acknowledged write is lost');
  const versions = versionsOf(items);
  for (const { informer } of clients) {
    await informer.synced;
    const isSame = await comesTrue(() => versionsOf(informer.list()) === versions);
    t.ok(isSame, 'an informer that watched through the upgrade has the links of the list');
  }
  return [...states.keys()];
}

type Checked = {
  readonly nodes: readonly [NodeProcess, NodeProcess];
  readonly clients: readonly LinkClients[];
  readonly spoken: Spoken;
  readonly recorded: RecordedWrites;
};

test('two nodes upgrade the plugin twice under writes, and every link is migrated and writable', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-links-nodes-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const [first, second, third] = await linksPackages(t, requireVisibility);
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
  await leader.until(`${group}/v1alpha1/links/${names.at(-1)!}`, ({ status }) => status === 200);
  await other.until(`${group}/v1alpha1/links/${names.at(-1)!}`, ({ status }) => status === 200);
  const recorded = new RecordedWrites();

  const upgrade = async (version: string, archive: Buffer, spoken: Spoken): Promise<readonly string[]> => {
    const clients = nodes.map((node, place) => {
      const own = names.filter((_name, index) => index % 4 < 2 === (place === 0));
      return new LinkClients({ node, spoken, recorded, names: own, id: `${node.name}-${version.slice(0, 1)}` });
    });
    const begin = performance.now();
    await upload(other, 'links/upgrade', archive);
    const served = performance.now();
    for (const node of nodes) await grown(node, version);
    const ended = performance.now();
    for (const client of clients) await client.stop();
    t.strictSame(recorded.surprises, [], `no client is surprised on the way to ${version}`);
    t.ok(recorded.shortestWaitMs >= upgradeWaitMs - 100, 'no write is answered with 503 before the limit of its wait');
    const turns = clients.map((client) => client.turns.join('/')).join(' and ');
    t.comment(
      `${version}, ${String(count)} links: answered in ${(served - begin).toFixed(0)} ms, migrated in ` +
        `${(ended - begin).toFixed(0)} ms, meanwhile ${turns} turns of writers/readers, ` +
        `${String(recorded.acknowledged)} writes acknowledged; retryable: ${JSON.stringify([...recorded.retryable])}`,
    );
    t.ok(clients.every((client) => client.turns.every((turn) => turn > 0)));
    const all = await checkStates(t, { nodes, clients, spoken, recorded });
    for (const client of clients) client.end();
    return all;
  };

  const onceGrown = await upgrade('2.0.0', second!, alpha);
  for (const node of nodes) {
    const tagged = await node.ask(`${group}/v1beta1/links?fieldSelector=spec.tags=daily&size=1`);
    t.match(JSON.parse(tagged.text) as object, { total: count, items: [{ spec: { tags: ['news', 'daily'] } }] });
  }
  for (const spoken of [alpha, beta])
    t.strictSame(await refusedWrites(nodes, spoken, onceGrown), [], `every link is writable in ${spoken.version}`);

  const twiceGrown = await upgrade('3.0.0', third!, beta);
  for (const node of nodes) {
    const { items } = await listed(node, beta);
    const lacking = items
      .filter(({ spec }) => typeof spec['title'] !== 'string' || spec['visibility'] !== 'public' || 'url' in spec)
      .map(({ metadata }) => metadata.name);
    t.strictSame(lacking, []);
    t.equal((await node.ask(`${group}/v1alpha1/links`)).status, 404);
  }
  t.strictSame(await refusedWrites(nodes, beta, twiceGrown), [], 'every link is writable in v1beta1');
  for (const node of [other, leader]) await node.stop();
});
