/**
 * Two nodes over one log, each a process of its own, and one client that uses them as one service: each request goes to
 * the other node than the one before. The log is killed and restarted meanwhile. Answers are compared with a model of
 * one service; the events in the log, with the acknowledged writes.
 */
import fc from 'fast-check';
import t, { test } from 'tap';
import type { Test } from 'tap';

import { transports } from '../support/watching.ts';
import { AlternatingClient } from './support/alternating-client.ts';
import { Following } from './support/following.ts';
import type { LogAt } from '../support/memory/event-log.ts';
import { startLogServer, commentServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';
import { Outages } from './support/outages.ts';
import { PersonModel } from './support/person-model.ts';
import { people, step, take, watches, type Step } from './support/service-script.ts';
import { historyOf } from './support/recorded-history.ts';
import { WidgetModel, widgetsPath } from './support/widget-model.ts';

const seed = Number(process.env['NODES_SEED'] ?? 20_261_121);
const steps = Number(process.env['NODES_STEPS'] ?? 500);
/** How often the log is killed in that time. */
const kills = Number(process.env['NODES_KILLS'] ?? 5);

t.setTimeout(280_000);

async function startNodes(t: Test, eventLog: LogAt): Promise<readonly [NodeProcess, NodeProcess]> {
  const folder = t.testdir();
  const first = await NodeProcess.start({ eventLog, folder, name: 'first' });
  t.teardown(async () => first.kill());
  const second = await NodeProcess.start({ eventLog, folder, name: 'second' });
  t.teardown(async () => second.kill());
  return [first, second];
}

/** What goes on while the log is away: reads, watches, probes. */
async function lookAround(t: Test, nodes: readonly NodeProcess[], followers: readonly Following[]): Promise<void> {
  for (const node of nodes) {
    const answer = await node.until('/readyz', ({ status }) => status === 503);
    t.match(answer.text, /the event log is unreachable: \S/u, `${node.name} says why it is not ready`);
    t.notMatch(answer.text, /esdb:/u);
    t.equal((await node.ask('/healthz')).status, 200);
    t.equal((await node.ask(widgetsPath)).status, 200, `${node.name} lists`);
    const list = JSON.parse((await node.ask('/api/v1alpha1/roles')).text) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    t.equal((await node.ask(`/api/v1alpha1/roles/${list.items[0]!.metadata.name}`)).status, 200, `${node.name} gets`);
  }
  t.ok(
    followers.some(({ isLive }) => isLive),
    'watches go on',
  );
  // A follower from the other node is accepted, even after a change that this node has not folded.
  for (const follower of followers) follower.move();
}

test('two nodes over one log act as one service for an alternating client while the log restarts', async (t) => {
  commentServer(t);
  t.comment(`NODES_SEED=${seed.toString()} NODES_STEPS=${steps.toString()} NODES_KILLS=${kills.toString()}`);
  const log = await startLogServer(t);
  const nodes = await startNodes(t, log);
  const outages = new Outages(log, nodes);
  const client = new AlternatingClient(nodes, outages);
  const widgets = new WidgetModel(client);
  const cast = Array.from({ length: people }, (_, index) => new PersonModel(client, `person-${index.toString()}`));
  const role = await client.write({
    method: 'POST',
    path: '/api/v1alpha1/roles',
    body: {
      metadata: { name: 'widget-reader' },
      rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list'] }],
    },
  });
  t.equal(role.status, 201);
  const after: string = role.json.metadata.resourceVersion;
  const followers = Array.from({ length: watches }, (_, index) =>
    Following.start(nodes, {
      path: widgetsPath,
      transport: transports[index % transports.length]!,
      at: index % 2,
      after,
    }),
  );
  t.teardown(async () => Promise.all(followers.map(async (follower) => follower.stop())));

  const script = fc.sample(step, { seed, numRuns: steps });
  const between = Math.floor(steps / (kills + 1));
  for (const [index, next] of script.entries()) {
    const kill = index > 0 && index % between === 0 && outages.count < kills;
    await run(next, index, async () => {
      const step = take(next, {
        widgets,
        people: cast,
        move: (watch) => {
          followers[watch]!.move();
        },
      });
      // Killed while a request is under way, or before the next one.
      if (kill) await outages.begin();
      await step;
    });
    if (kill && outages.state === 'away') await lookAround(t, nodes, followers);
  }
  await outages.over();
  t.equal(outages.count, kills);

  await agree(t, { nodes, widgets });
  const history = await historyOf(log, { group: 'widgets.example.com', after });
  t.strictSame(
    [...history.titles].sort(),
    [...widgets.acknowledged].sort(),
    'acknowledged writes are stored once, and no others',
  );
  for (const follower of followers) {
    await follower.reached(history.changes.at(-1)?.resourceVersion ?? '0');
    t.strictSame(follower.changes, history.changes, 'a watch is the exact suffix of the log');
  }
  t.ok(
    cast.every(({ rounds }) => rounds > 0),
    'every person went through all steps',
  );
  for (const node of nodes) t.equal(node.ended, undefined, `${node.name} runs`);
  t.comment(
    JSON.stringify({
      statuses: Object.fromEntries(client.statuses),
      healedMs: outages.healed,
      changes: history.changes.length,
      people: cast.map(({ rounds }) => rounds),
      endings: [...new Set(followers.flatMap(({ endings }) => endings))],
    }),
  );
  for (const node of nodes) await node.stop();
});

async function run(next: Step, index: number, task: () => Promise<void>): Promise<void> {
  try {
    await task();
  } catch (error) {
    throw new Error(
      `step ${index.toString()}, ${JSON.stringify(next)}: ${error instanceof Error ? error.message : String(error)}` +
        ` (NODES_SEED=${seed.toString()})`,
      { cause: error },
    );
  }
}

/** Once nothing is on its way any more both nodes show the same bytes, and what the model says. */
async function agree(
  t: Test,
  { nodes, widgets }: { readonly nodes: readonly NodeProcess[]; readonly widgets: WidgetModel },
): Promise<void> {
  await widgets.create('the-last-one', undefined);
  for (const path of [widgetsPath, '/api/v1alpha1/users', '/api/v1alpha1/rolebindings', '/api/v1alpha1/roles']) {
    for (const node of nodes)
      await node.until(
        `${path}?resourceVersion=${widgets.position}`,
        ({ text }) => !text.includes('deletionTimestamp'),
      );
    const [one, other] = await Promise.all(nodes.map(async (node) => node.ask(path)));
    // The list's own position counts every event, other types' and the lease's among them.
    t.strictSame(itemsOf(one!.text), itemsOf(other!.text), `${path}: the same bytes`);
  }
  await widgets.list();
}

function itemsOf(list: string): string {
  return list.slice(list.indexOf('"items":'));
}
