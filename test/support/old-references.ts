import type { EventMetadata } from '../../src/command/event.ts';
import { decodeEvent, decodeMetadata, encodeEvent, isObjectEvent } from '../../src/log/event-codec.ts';
import type { EventLog, StreamName } from '../../src/log/log.ts';
import type { OwnerReference } from '../../src/resource/object/object.ts';
import { idOf } from './id-of.ts';

/**
 * Appends an event that only an older server would append: its object has owner references that a write must not set
 * any more.
 */
export async function appendReferences(
  log: EventLog,
  stream: StreamName,
  ownerReferences: readonly OwnerReference[],
): Promise<void> {
  const last = await log.readLast(stream);
  const decoded = last === undefined ? undefined : decodeEvent(last);
  if (
    last === undefined ||
    decoded === undefined ||
    !isObjectEvent(decoded.event) ||
    decoded.event.object === undefined
  )
    throw new Error(`${stream} holds no object`);
  const { object, values } = decoded.event;
  const metadata: EventMetadata = decodeMetadata(last);
  const referring = { ...object, metadata: { ...object.metadata, version: last.revision + 1, ownerReferences } };
  const proposed = encodeEvent(
    idOf(`${stream} ${String(last.revision)}`),
    { type: 'ObjectUpdated', object: referring, values },
    metadata,
  );
  const outcome = await log.append(stream, [proposed], last.revision);
  if (!outcome.ok) throw new Error(`${stream}: ${outcome.reason}`);
}
