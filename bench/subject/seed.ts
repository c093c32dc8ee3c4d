import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { eventSchema } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { streamName, streamRevision } from '../../src/log/log.ts';
import type { EventLog } from '../../src/log/log.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import { startSubject } from './server.ts';
import { tiers, widgetGroup, widgetText } from './widgets.ts';

/** The maximum number of pending appends. Then the seeding waits for the disk. */
const appendsInFlight = 4_096;
const began = Date.parse('2026-01-01T00:00:00.000Z');

/**
 * Creates a DATA_DIR with `count` widgets of `versions` versions each. A server founds the log and stops. Then the
 * events of the widgets are appended to the log in the form that the server writes. The next server folds them.
 */
export async function seed(dataDir: string, count: number, versions = 1): Promise<void> {
  await (await startSubject(dataDir)).stop();
  const log = await openLmdbLog({
    dir: join(dataDir, 'log'),
    onFatal: (error) => {
      throw error;
    },
  });
  for (let version = 0; version < versions; version += 1) await appendWidgets(log, count, version);
  await log.close();
}

/** Appends one version of `count` widgets to a founded log. Version 0 creates the widgets. */
export async function appendWidgets(log: EventLog, count: number, version = 0): Promise<void> {
  for (let first = 0; first < count; first += appendsInFlight) {
    const size = Math.min(appendsInFlight, count - first);
    await Promise.all(Array.from({ length: size }, (_, index) => append(log, first + index, version)));
  }
}

async function append(log: EventLog, index: number, version: number): Promise<void> {
  const time = new Date(began + index).toISOString();
  const metadata = {
    actor: 'admin',
    verb: version === 0 ? 'create' : 'update',
    requestId: randomUUID(),
    address: '127.0.0.1',
    userAgent: 'bench',
    time,
    schema: eventSchema,
    $correlationId: randomUUID(),
    declared: 0,
  };
  const object = widget(index, version, time);
  const type = version === 0 ? 'ObjectCreated' : 'ObjectUpdated';
  const event = encodeEvent(randomUUID(), { type, object, values: [] }, metadata);
  const outcome = await log.append(
    streamName(`object:widgets.${widgetGroup}/${object.metadata.name}`),
    [event],
    version === 0 ? 'absent' : streamRevision(version - 1),
  );
  if (!outcome.ok) throw new Error(`widget ${index.toString()} was not appended: ${outcome.reason}`);
}

function widget(index: number, version: number, creationTimestamp: string): ResourceObject {
  const tier = tiers[index % tiers.length] ?? '';
  const size = seededSize(index, version);
  const { metadata, ...rest } = JSON.parse(
    widgetText({ name: seededName(index), size: size.toString(), tier, batch: (index % 1_000).toString() }),
  ) as ResourceObject;
  // The uid depends only on the index, so that all versions of an object have the same uid.
  const uid = `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
  return { ...rest, metadata: { ...metadata, uid, version, generation: version + 1, creationTimestamp } };
}

/** Scatters the sizes over the indexes, so that the order by size differs from all other orders. */
export function seededSize(index: number, version: number): number {
  return ((index + version) * 7_919) % 1_001;
}

export function seededName(index: number): string {
  return `seeded-${index.toString().padStart(7, '0')}`;
}
