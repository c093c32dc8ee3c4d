import { setTimeout as pause } from 'node:timers/promises';

import type { Bench } from '../../bench.ts';
import { expect, get } from '../../subject/client.ts';
import { seededName } from '../../subject/seed.ts';
import { authorization } from '../../subject/server.ts';
import { widgetsPath } from '../../subject/widgets.ts';

export const versions = 10;
/** The version of all objects as of the middle of the log. */
export const middleVersion = versions / 2 - 1;

export type Middle = {
  readonly dataDir: string;
  readonly objects: number;
  readonly events: number;
  /**
   * Waits until the audit indexes are folded. Returns the position of the middle event. At this position, all objects
   * have the version `middleVersion`.
   */
  readonly position: (url: string) => Promise<number>;
};

/** Repeats the request until the audit indexes are folded and the columns of the type are built. */
export async function untilServed(target: string): Promise<void> {
  for (;;) {
    const answer = await fetch(target, { headers: { authorization } });
    const text = await answer.text();
    if (answer.status === 200) return;
    expect(`the status of ${target} (${text})`, answer.status, 503);
    expect('whether a Retry-After header is present', Number(answer.headers.get('retry-after')) > 0, true);
    await pause(500);
  }
}

/** Returns a folder with a million events of 100,000 objects. */
export async function middleOf(bench: Bench): Promise<Middle> {
  const objects = bench.scaled(100_000);
  const events = objects * versions;
  return {
    dataDir: await bench.seeded(objects, versions),
    objects,
    events,
    position: async (url) => {
      // The seeded events are consecutive. The last event belongs to the last version of the last object.
      const { metadata } = await get(url, seededName(objects - 1));
      const position = Number(metadata.resourceVersion) - events / 2;
      await untilServed(`${url}${widgetsPath}/${seededName(0)}?at=${String(position)}`);
      return position;
    },
  };
}

/** Returns the name of a measure. */
export function inTheMiddle({ events }: Middle, what: string): string {
  return `${what}, in the middle of ${events.toLocaleString('en')} events`;
}
