import { test } from 'tap';

import { visitor } from '../../src/command/subject.ts';
import { LogCorruptError, logStart, type RecordedEvent } from '../../src/log/log.ts';
import { clientOf } from '../../src/read/client.ts';
import { LoggedEvents } from '../../src/watch/logged-events.ts';
import { LogSilentError } from '../../src/watch/log-silent-error.ts';
import type { WatchPlan } from '../../src/watch/watch-plan.ts';
import { collect } from '../support/memory/log-events.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { WidgetWriter } from '../support/memory/memory-objects.ts';
import { widgetType } from '../support/watched-type.ts';

const plan: WatchPlan = {
  type: widgetType(),
  name: undefined,
  subject: visitor,
  client: clientOf(visitor, '127.0.0.1'),
  start: { kind: 'now' },
  selection: { labels: [{ key: 'app', operator: 'exists' }], fields: [] },
  bookmarks: false,
  timeoutMs: undefined,
};

test('a deposed leader may not know the event before one that was read: the log is read again', async (t) => {
  const log = new MemoryLog();
  t.teardown(() => log.close());
  const writer = new WidgetWriter(log);
  await writer.write('a', { size: 1 });
  await writer.write('a', { size: 2, labels: { app: 'x' } });
  const [, second] = await collect(log.readAll({ after: logStart }));
  const shownBy = async (events?: readonly RecordedEvent[]): Promise<unknown> =>
    new LoggedEvents({ readStream: async (...read) => events ?? log.readStream(...read) }, plan).shown(second!);
  t.match(await shownBy(), { type: 'ADDED', position: second!.position });
  await t.rejects(shownBy([]), LogSilentError, 'it answers of a time before the event');
  await t.rejects(shownBy([second!]), LogCorruptError, 'it knows the event, and none before it');
});
