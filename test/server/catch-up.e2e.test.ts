import { randomUUID } from 'node:crypto';
import { test } from 'tap';

import { encodeEvent } from '../../src/log/event-codec.ts';
import { FoundedLog } from '../../src/log/founded-log.ts';
import { streamName, type RecordedEvent, type SubscribeOptions } from '../../src/log/log.ts';
import { catchUpReportMs } from '../../src/limits/log.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { appended } from '../support/memory/log-events.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { startTestServer } from '../support/server/start-server.ts';
import { passing } from '../support/clocks/stopped-time.ts';
import { altered } from '../support/writing.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';

test('a node that catches up reports its progress, and serves nothing before the end', async (t) => {
  const log = new MemoryLog();
  const clock = new FakeClock();
  await new FoundedLog(log).found({ domain: 'svc.run', now: clock.now(), uuid: () => randomUUID() });
  const metadata = {
    actor: 'test',
    verb: 'create',
    requestId: 'r',
    time: new Date(clock.now()).toISOString(),
    schema: 1,
    $correlationId: 'r',
  };
  for (let written = 1; written < 1_024; written += 1) {
    appended(
      await log.append(
        streamName(`secret:${String(written)}`),
        [encodeEvent(randomUUID(), { type: 'TokenIssued', digest: 'x' }, metadata)],
        'absent',
      ),
    );
  }
  let release = (): void => undefined;
  const halfway = new Promise<void>((resolve) => {
    release = resolve;
  });
  const read: { half: () => void } = { half: () => undefined };
  const isHalf = new Promise<void>((resolve) => {
    read.half = resolve;
  });
  const held = altered(log, {
    readAll: async function* stalling(options: SubscribeOptions): AsyncGenerator<readonly RecordedEvent[]> {
      for await (const batch of log.readAll(options)) {
        yield batch;
        read.half();
        await halfway;
      }
    },
  });
  const lines: string[] = [];
  let url = '';
  const starting = startTestServer({
    clock,
    openLog: () => Promise.resolve({ log: held, name: 'embedded log' }),
    onListening: (at) => {
      url = at;
    },
    logLines: {
      write: (line) => {
        lines.push(line);
      },
    },
  });
  await isHalf;
  const ready = await fetch(`${url}/readyz`);
  t.equal(ready.status, 503);
  t.equal(await ready.text(), 'not ready\n- read models are catching up: 50 %\n- plugins are starting\n');
  t.equal((await fetch(`${url}/livez`)).status, 200);
  for (const path of [widgets, '/api/v1alpha1/users', '/metrics', '/apis'])
    t.equal((await fetch(`${url}${path}`)).status, 503, path);
  clock.advance(catchUpReportMs);
  release();
  const server = await starting;
  t.teardown(async () => passing(clock, server.remove()));
  t.equal((await fetch(`${server.url}/readyz`)).status, 200);
  t.equal((await server.call(widgets)).status, 200);
  t.ok(server.ready.events > 1_024);
  const logged = lines
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly percent?: number; readonly folded?: number })
    .filter(({ msg }) => msg === 'read models are catching up');
  t.match(logged, [{ percent: 100, folded: 1_024 }]);
});
