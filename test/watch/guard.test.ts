import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { test } from 'tap';

import { visitor, type Subject } from '../../src/command/subject.ts';
import { watchGuardMs } from '../../src/limits/watches.ts';
import { requestInfo } from '../../src/resource/query/request-path.ts';
import { WatchGuard, type Allows } from '../../src/watch/guard.ts';
import { WatchHub } from '../../src/watch/hub.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { MemoryObjects } from '../support/memory/memory-objects.ts';
import { widgetType } from '../support/watched-type.ts';
import { clientOf } from '../../src/read/client.ts';
import { RecordingSink } from './recording-sink.ts';

const type = widgetType();
const ada: Subject = { kind: 'user', name: 'ada', credential: { kind: 'password', uid: 'u' } };

function given(allows: Allows) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const objects = new MemoryObjects(log, clock, [type]);
  const hub = new WatchHub({
    feed: objects,
    reader: objects,
    log,
    clock,
    report: (error) => {
      t.error(error);
    },
  });
  const watch = (subject: Subject, name?: string): RecordingSink => {
    const sink = new RecordingSink();
    hub.open(
      {
        type,
        name,
        subject,
        client: clientOf(subject, ''),
        selection: { labels: [], fields: [] },
        start: { kind: 'now' },
        bookmarks: false,
        timeoutMs: undefined,
      },
      sink,
    );
    return sink;
  };
  return { clock, watch, guard: new WatchGuard({ hub, clock, allows }) };
}

test('a watch is reviewed as a new request for it, by name if it selects one object', async (t) => {
  const asked: string[] = [];
  const { guard, watch } = given((subject, { verb, path }) => {
    asked.push(`${subject.kind} ${verb} ${path}`);
    return path.endsWith('/a');
  });
  const [all, one] = [watch(ada), watch(visitor, 'a')];
  guard.recheck();
  t.strictSame(asked.sort(), [`user watch ${type.path}`, `visitor watch ${type.path}/a`]);
  t.equal(all.ending?.reason, 'rights-lost');
  t.equal(one.ending, undefined);
  guard.stop();
});

test('equal watches are reviewed once in a pass, and again in the next', async (t) => {
  const asked: string[] = [];
  let isAllowed = true;
  const { guard, watch } = given((subject, { path }) => {
    asked.push(`${subject.kind} ${path}`);
    return isAllowed || subject.kind === 'visitor';
  });
  const lost = [watch(ada), watch(ada), watch(ada, 'a'), watch(ada, 'a')];
  const kept = [watch(visitor), watch(visitor)];
  guard.recheck();
  const once = [`user ${type.path}`, `user ${type.path}/a`, `visitor ${type.path}`];
  t.strictSame(asked.splice(0).sort(), once);
  isAllowed = false;
  guard.recheck();
  t.strictSame(asked.sort(), once);
  t.ok(
    lost.every(({ ending }) => ending?.reason === 'rights-lost'),
    'in the same turn',
  );
  t.ok(kept.every(({ ending }) => ending === undefined));
  guard.stop();
});

test('equal streams are reviewed once in a pass, too', (t) => {
  const asked: string[] = [];
  const requests = ['/apis/a.example/v1/feed', '/apis/a.example/v1/other'].map((path) => {
    const info = requestInfo('GET', path, 'no watch');
    if (info.kind === 'malformed') throw new Error(path);
    return info;
  });
  const streams = [ada, ada, visitor].flatMap((subject) => requests.map((request) => ({ subject, request })));
  const verdicts: boolean[] = [];
  const guard = new WatchGuard({
    clock: new FakeClock(),
    hub: { recheck: () => undefined },
    recheckStreams: (allows) => {
      for (const { subject, request } of streams) verdicts.push(allows(subject, request));
    },
    allows: (subject, { path }) => {
      asked.push(`${subject.kind} ${path}`);
      return subject.kind === 'user';
    },
  });
  guard.recheck();
  guard.stop();
  t.equal(asked.length, 4);
  t.equal(new Set(asked).size, 4);
  t.strictSame(verdicts, [true, true, true, true, false, false]);
  t.end();
});

test('expired credentials are found by a timer until the guard is stopped', async (t) => {
  let valid = true;
  const { guard, watch, clock } = given(() => valid);
  const sink = watch(ada);
  clock.advance(watchGuardMs);
  t.equal(sink.ending, undefined);
  valid = false;
  clock.advance(watchGuardMs - 1);
  t.equal(sink.ending, undefined);
  clock.advance(1);
  // The clock has left this turn no time.
  await nextTurn();
  t.equal(sink.ending?.reason, 'rights-lost');
  guard.stop();
  const unguarded = watch(ada);
  clock.advance(2 * watchGuardMs);
  t.equal(unguarded.ending, undefined);
});
