import type { RemoteClient } from 'ledgerplane/client';

import {
  condition,
  eventsPath,
  isOfObject,
  readEventPage,
  type AccessData,
  type AuditEvent,
  type PastObject,
} from './audit-event.ts';

/** An event, and the state of its object before the event; undefined for the first event of an object. */
export type EventWithBefore = { readonly event: AuditEvent; readonly before: PastObject | undefined };

type Start = { readonly client: RemoteClient; readonly domain: string; readonly signal: AbortSignal };

export async function readEvent({ client, domain, signal }: Start, position: string): Promise<EventWithBefore> {
  const event = await client.request<AuditEvent>(eventsPath(domain, position), { signal });
  if (event === undefined) throw new Error('The server sent no event');
  const hasBefore = isOfObject(event) && event.version > 0 && event.event !== 'ObjectCreated';
  return { event, before: hasBefore ? await readBefore({ client, domain, signal }, event) : undefined };
}

/** Reads the state of the object after its previous event. The query uses the indexes of type, name and position. */
async function readBefore({ client, domain, signal }: Start, event: AuditEvent): Promise<PastObject | undefined> {
  const { type, name, position } = event;
  const fieldSelector = [condition('type', '=', type), condition('name', '=', name), `position<=${position}`].join(',');
  const query = { fieldSelector, sort: 'position,desc', limit: 2, include: 'object' };
  const { items } = await readEventPage<AuditEvent>(client, eventsPath(domain), { query, signal });
  return items.find((each) => each.position !== position && each.uid === event.uid)?.object;
}

/** Returns the log-ins and refusals in an event; undefined for an event of another kind. */
export function accessDataOf(event: AuditEvent | undefined): AccessData | undefined {
  return event !== undefined && isAccess(event) ? event.data : undefined;
}

function isAccess(event: AuditEvent): event is AuditEvent & { readonly data: AccessData } {
  return event.event === 'AccessRecorded' && event.data !== undefined;
}
