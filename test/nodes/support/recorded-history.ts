import { decodeEvent, isObjectEvent } from '../../../src/log/event-codec.ts';
import { logPosition } from '../../../src/log/log.ts';
import { eventsOf, type LogAt } from '../../support/memory/event-log.ts';
import type { Change } from './following.ts';

/** What the log has about one type, read past the nodes. */
export type History = {
  /** As a watch of all of them would send it. */
  readonly changes: readonly Change[];
  /** Of each write of a spec, once for each event. */
  readonly titles: readonly string[];
};

const types: Readonly<Record<string, string>> = {
  ObjectCreated: 'ADDED',
  ObjectUpdated: 'MODIFIED',
  ObjectDeletionRequested: 'MODIFIED',
  NameFenced: 'MODIFIED',
  ObjectDeleted: 'DELETED',
};

/**
 * Throws where the revisions of a stream have a hole or an event decides on another state than the one before it left.
 */
export async function historyOf(
  at: LogAt,
  { group, after }: { readonly group: string; readonly after: string },
): Promise<History> {
  const changes: Change[] = [];
  const titles: string[] = [];
  const last = new Map<string, number>();
  for (const recorded of await eventsOf(at)) {
    if (!recorded.stream.startsWith(`object:${group}/`)) continue;
    const { event } = decodeEvent(recorded);
    if (!isObjectEvent(event) || event.object === undefined) continue;
    const { metadata } = event.object;
    const before = last.get(recorded.stream) ?? -1;
    if (recorded.revision !== before + 1)
      throw new Error(`${recorded.stream} goes from revision ${before.toString()} to ${recorded.revision.toString()}`);
    if (metadata.version !== recorded.revision)
      throw new Error(
        `${recorded.stream}: version ${metadata.version.toString()} stands at revision ${recorded.revision.toString()}`,
      );
    last.set(recorded.stream, recorded.revision);
    if (recorded.position <= logPosition(BigInt(after))) continue;
    const title = (event.object['spec'] as { readonly title: string }).title;
    changes.push({
      type: types[event.type] ?? event.type,
      name: metadata.name,
      version: metadata.version,
      resourceVersion: recorded.position.toString(),
      title,
    });
    if (event.type === 'ObjectCreated' || event.type === 'ObjectUpdated') titles.push(title);
  }
  return { changes, titles };
}
