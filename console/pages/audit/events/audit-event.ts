import type { RemoteClient, TypeName } from 'ledgerplane/client';

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [member: string]: Json };

/** The state of an object after an event. */
export type PastObject = JsonObject & {
  readonly metadata: JsonObject & { readonly name: string; readonly uid: string; readonly version: number };
};

/** The common members of the entries of a history and the events of the audit stream. */
export type EventCause = {
  readonly id: string;
  /** The type of the event, for example `ObjectUpdated`. */
  readonly event: string;
  readonly position: string;
  readonly version: number;
  readonly uid?: string;
  readonly time: string;
  readonly actor?: string;
  readonly onBehalfOf?: string;
  readonly token?: string;
  readonly verb?: string;
  readonly address?: string;
  readonly userAgent?: string;
  readonly requestId?: string;
  readonly traceParent?: string;
  readonly plugin?: string;
  readonly restoredFrom?: string;
  /** The id of the event that a reconciler reacted to. */
  readonly cause?: string;
};

/** An entry of an object's history. */
export type HistoryEntry = EventCause & {
  readonly uid: string;
  readonly object: PastObject;
};

/** An event of the audit stream. */
export type AuditEvent = EventCause & {
  readonly metadata: { readonly resourceVersion: string; readonly name: string; readonly uid: string };
  readonly stream: string;
  /** `<plural>.<group>` for an event of an object, otherwise the category of the stream. */
  readonly type: string;
  readonly name: string;
  readonly correlationId?: string;
  readonly dataSha256?: string;
  readonly object?: PastObject;
  readonly data?: object;
};

/** The content of an `AccessRecorded` event: log-ins and refusals of about one second. */
export type AccessData = {
  readonly from: string;
  readonly until: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly entries: readonly AccessEntry[];
};

export type AccessEntry = {
  readonly time: string;
  readonly kind: string;
  readonly requestId?: string;
  readonly address?: string;
  readonly user?: string;
  readonly isUnknownUser?: boolean;
  readonly token?: string;
  readonly verb?: string;
  readonly path?: string;
};

/** A page of events. */
export type EventPage<T> = {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue: string | undefined;
};

type Answer<T> = {
  readonly items: readonly T[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
};

export type PageQuery = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Reads a page of the history of an object, or of the audit stream. */
export async function readEventPage<T>(
  client: RemoteClient,
  path: string,
  { query, signal }: { readonly query: PageQuery; readonly signal: AbortSignal },
): Promise<EventPage<T>> {
  const answer = await client.request<Answer<T>>(path, { query, signal });
  if (answer === undefined) throw new Error('The server sent no events');
  const { items, metadata } = answer;
  return { items, resourceVersion: metadata.resourceVersion, continue: metadata.continue };
}

export function eventsType(domain: string): TypeName {
  return { group: `audit.${domain}`, version: 'v1alpha1', plural: 'events' };
}

export function eventsPath(domain: string, ...more: readonly string[]): string {
  return [`/apis/audit.${domain}/v1alpha1/events`, ...more.map(encodeURIComponent)].join('/');
}

/** Returns a condition of a field selector. Escapes the special characters of the value with a backslash. */
export function condition(field: string, operator: string, value: string): string {
  return `${field}${operator}${value.replaceAll(/[\\,=()]|^ | $/gu, String.raw`\$&`)}`;
}

/** Compares two positions of the log. A position may exceed the safe integers. */
export function isLater(left: string, right: string): boolean {
  return left.length === right.length ? left > right : left.length > right.length;
}

export function isOfObject({ stream }: AuditEvent): boolean {
  return stream.startsWith('object:');
}
