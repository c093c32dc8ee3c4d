import type { Subject } from '../command/subject.ts';
import type { LogPosition } from '../log/log.ts';
import type { Client } from '../read/client.ts';
import type { ListQuery, Selection } from '../resource/query/list-query.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

/** The start of a watch. */
export type WatchStart =
  /**
   * The present objects as ADDED, then the changes. The state is not older than `notBefore`. `marksEnd`: a bookmark
   * marks the end of the present objects, if the client requested bookmarks.
   */
  | { readonly kind: 'state'; readonly notBefore: LogPosition | undefined; readonly marksEnd: boolean }
  /** All changes after a position, which may be as old as the log. */
  | { readonly kind: 'after'; readonly position: LogPosition }
  /** The changes from now on. */
  | { readonly kind: 'now' };

/** A watch request, decoded and checked. */
export type WatchPlan = {
  readonly type: ResourceType;
  /** The name of the watched object, which need not exist yet; undefined for a collection. */
  readonly name: string | undefined;
  readonly subject: Subject;
  /** The client that is charged for the memory of the watch. */
  readonly client: Client;
  readonly selection: Selection;
  readonly start: WatchStart;
  readonly bookmarks: boolean;
  /** The time after which the watch ends without an error; undefined for a watch without a limit. */
  readonly timeoutMs: number | undefined;
};

/** The reason why the server ends a watch. */
export type EndReason =
  | 'timed-out'
  | 'too-slow'
  | 'unresponsive'
  | 'expired'
  | 'rights-lost'
  | 'type-removed'
  | 'shutting-down'
  | 'overloaded'
  | 'failed';

export type Ending = {
  readonly reason: EndReason;
  readonly detail: string;
};

/**
 * The facts by which a watch is authorized: its type, selection and caller, and the name if the watch can select only
 * one object.
 */
export type Watched = {
  readonly type: ResourceType;
  readonly name: string | undefined;
  readonly selection: Selection;
  readonly subject: Subject;
};

export function watchedBy(plan: WatchPlan): Watched {
  return {
    type: plan.type,
    name: nameWatched(plan),
    selection: plan.selection,
    subject: plan.subject,
  };
}

/**
 * Returns the name of the only object that the watch can select, from the path or from
 * `fieldSelector=metadata.name=<n>`. Returns undefined if the watch may select several objects. The watch is authorized
 * for this name.
 */
export function nameWatched({ type, name, selection }: WatchPlan): string | undefined {
  if (name !== undefined) return name;
  const place = namePlace(type);
  const requirement = selection.fields.find(({ index, operator }) => index === place && operator === 'in');
  if (requirement?.operator !== 'in' || requirement.keys.length !== 1) return undefined;
  const [key] = requirement.keys;
  return typeof key === 'string' ? key : undefined;
}

/** Returns whether each object of the type is selected. */
export function selectsAll({ labels, fields }: Selection): boolean {
  return labels.length === 0 && fields.length === 0;
}

/** Returns the query for the objects of the watch's initial state. */
export function initialQuery({ type, name, selection }: WatchPlan): ListQuery {
  const byName = name === undefined ? [] : [{ index: namePlace(type), operator: 'in', keys: [name] } as const];
  return {
    selection: { labels: selection.labels, fields: [...byName, ...selection.fields] },
    sort: [],
    window: { kind: 'all' },
  };
}

function namePlace(type: ResourceType): number {
  return type.indexes.findIndex((index) => index.name === 'metadata.name');
}
