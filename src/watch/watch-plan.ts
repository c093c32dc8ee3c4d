import type { Subject } from '../command/subject.ts';
import type { LogPosition } from '../log/log.ts';
import type { Client } from '../read/client.ts';
import type { ListQuery, Selection } from '../resource/query/list-query.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

/** Where a watch begins. */
export type WatchStart =
  /** The present objects as ADDED, then what follows. The state is not older than `notBefore`. */
  | { readonly kind: 'state'; readonly notBefore: LogPosition | undefined; readonly marksEnd: boolean }
  /** All changes after a position, which may be as old as the log. */
  | { readonly kind: 'after'; readonly position: LogPosition }
  /** Only what happens from now on. */
  | { readonly kind: 'now' };

/** What one watcher asked for, decoded and checked. */
export type WatchPlan = {
  readonly type: ResourceType;
  /** The one object watched, which need not exist yet; undefined on a collection. */
  readonly name: string | undefined;
  readonly subject: Subject;
  /** By whom what it holds is counted. */
  readonly client: Client;
  readonly selection: Selection;
  readonly start: WatchStart;
  /** Bookmarks are never sent unasked. */
  readonly bookmarks: boolean;
  /** After this the watch ends cleanly; undefined: it goes on until somebody leaves. */
  readonly timeoutMs: number | undefined;
};

/** Why a watch ends by the server's will. */
export type EndReason =
  | 'timed-out' | 'too-slow' | 'unresponsive' | 'expired' | 'rights-lost' | 'type-gone' | 'shutting-down' | 'overloaded' | 'failed';

export type Ending = { readonly reason: EndReason; readonly detail: string };

/** What a watch is allowed or denied by: its type, the one name it can see, and who asked. */
export type Watched = { readonly type: ResourceType; readonly name: string | undefined; readonly subject: Subject };

export function watchedBy(plan: WatchPlan): Watched {
  return { type: plan.type, name: nameWatched(plan), subject: plan.subject };
}

/** The only object that can be selected, by path or by `fieldSelector=metadata.name=<n>`: as what the watch is authorized. */
export function nameWatched({ type, name, selection }: WatchPlan): string | undefined {
  if (name !== undefined) return name;
  const place = namePlace(type);
  const requirement = selection.fields.find(({ index, operator }) => index === place && operator === 'in');
  if (requirement?.operator !== 'in' || requirement.keys.length !== 1) return undefined;
  const [key] = requirement.keys;
  return typeof key === 'string' ? key : undefined;
}

/** Whether every object of the type is selected, so that nobody needs to look at index entries. */
export function selectsAll({ labels, fields }: Selection): boolean {
  return labels.length === 0 && fields.length === 0;
}

/** The list whose objects are the watch's initial state. */
export function initialQuery({ type, name, selection }: WatchPlan): ListQuery {
  const byName = name === undefined ? [] : [{ index: namePlace(type), operator: 'in', keys: [name] } as const];
  return { selection: { labels: selection.labels, fields: [...byName, ...selection.fields] }, sort: [], window: { kind: 'all' } };
}

function namePlace(type: ResourceType): number {
  return type.indexes.findIndex((index) => index.name === 'metadata.name');
}
