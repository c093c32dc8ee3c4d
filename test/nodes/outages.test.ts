/**
 * Many writers on two nodes while the log's server is killed, stays away and comes back. `LOG_OUTAGE_SECONDS` names
 * other outages than one of a second and one of ten, separated by commas: `LOG_OUTAGE_SECONDS=60`.
 */
import t, { test } from 'tap';

import { transports } from '../support/watching.ts';
import { Following } from './support/following.ts';
import { startLogServer, commentServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';
import { historyOf } from './support/recorded-history.ts';
import { widgetsPath } from './support/widget-model.ts';
import { Writer } from './support/writer.ts';

const asked = process.env['LOG_OUTAGE_SECONDS'];
const outages = (asked ?? '1,10').split(',').map(Number);
const writers = 64;
/** Acknowledged by all of them together before the log is killed, and after it has come back. */
const writesAround = 300;

t.setTimeout((120 + outages.reduce((sum, seconds) => sum + seconds, 0) * 2) * 1_000);
if (asked === undefined) t.comment('an outage of 60 s was left out: LOG_OUTAGE_SECONDS=60 asks for it');

for (const seconds of outages) {
  test(`64 writers lose and repeat nothing while the log is unavailable for ${seconds.toString()} s`, async (t) => {
    commentServer(t);
    const log = await startLogServer(t);
    const folder = t.testdir();
    const nodes: NodeProcess[] = [];
    for (const name of ['first', 'second']) {
      const node = await NodeProcess.start({ eventLog: log, folder, name });
      t.teardown(async () => node.kill());
      nodes.push(node);
    }
    const {
      metadata: { resourceVersion: after },
    } = JSON.parse((await nodes[0]!.ask(widgetsPath)).text) as {
      readonly metadata: { readonly resourceVersion: string };
    };
    const followers = transports.map((transport, index) =>
      Following.start(nodes, { path: widgetsPath, transport, at: index % 2, after }),
    );
    t.teardown(async () => Promise.all(followers.map(async (follower) => follower.stop())));

    const crowd = Array.from(
      { length: writers },
      (_, index) => new Writer(`w-${seconds.toString()}-${index.toString()}`, nodes, index),
    );
    const progress = { count: 0, stopped: false, woken: (): void => undefined };
    const running = crowd.map(async (writer) => {
      while (!progress.stopped) {
        await writer.write(() => progress.stopped);
        progress.count += 1;
        progress.woken();
      }
    });
    const written = async (count: number): Promise<void> => {
      const wanted = progress.count + count;
      while (progress.count < wanted)
        await new Promise<void>((resolve) => {
          progress.woken = resolve;
        });
    };
    await written(writesAround);
    await log.kill();
    const downSince = performance.now();
    for (const node of nodes) {
      const answer = await node.until('/readyz', ({ status }) => status === 503);
      t.match(answer.text, /the event log is unreachable: \S/u);
      t.equal((await node.ask(widgetsPath)).status, 200, `${node.name} goes on reading`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(0, seconds * 1_000 - (performance.now() - downSince)));
    });
    await log.restart();
    const back = performance.now();
    await written(1);
    t.comment(`${Math.round(performance.now() - back).toString()} ms from the log's return to the first write`);
    await written(writesAround);
    for (const node of nodes) await node.until('/readyz', ({ status }) => status === 200);
    progress.stopped = true;
    await Promise.all(running);

    t.strictSame(
      crowd.flatMap(({ offences }) => offences),
      [],
      'nobody was answered what nobody may be',
    );
    for (const node of nodes) t.equal(node.ended, undefined, `${node.name} never ended`);
    const history = await historyOf(log, { group: 'widgets.example.com', after });
    for (const writer of crowd) {
      const standing = history.titles.filter((title) => title.startsWith(`${writer.name} `));
      const expected = Array.from(
        { length: Math.max(standing.length, writer.acknowledged) },
        (_, size) => `${writer.name} ${size.toString()}`,
      );
      t.strictSame(standing, expected, `${writer.name}: each acknowledged write stands once, in order`);
      // The last one may have been given up while it was on its way.
      t.ok(standing.length <= writer.acknowledged + 1);
    }
    for (const follower of followers) {
      await follower.reached(history.changes.at(-1)!.resourceVersion);
      t.strictSame(follower.changes, history.changes, 'a watch has every change once');
    }
    const statuses = crowd.reduce((sums, { statuses }) => {
      for (const [status, count] of statuses) sums.set(status, (sums.get(status) ?? 0) + count);
      return sums;
    }, new Map<number, number>());
    t.comment(
      JSON.stringify({
        statuses: Object.fromEntries(statuses),
        endings: [...new Set(followers.flatMap(({ endings }) => endings))],
      }),
    );
    for (const node of nodes) await node.stop();
  });
}
