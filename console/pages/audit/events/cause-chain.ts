import type { RemoteClient } from 'ledgerplane/client';

import { condition, eventsPath, isLater, readEventPage, type AuditEvent } from './audit-event.ts';

/** The events that one request caused, as far as they were found. */
export type CauseChain = {
  /** The events in the order of the log. */
  readonly links: readonly ChainLink[];
  /** Whether there may be further events of the chain. */
  readonly isCut: boolean;
};

export type ChainLink = {
  readonly event: AuditEvent;
  /** The number of causes between this event and the first found event of the chain. */
  readonly depth: number;
};

/**
 * The maximum number of pages in a search. The server compares each event of the log with the id of a request, 10,000
 * events in a page, so the search needs a bound.
 */
const pagesMax = 3;
const pageEvents = 50;

type Start = { readonly client: RemoteClient; readonly domain: string; readonly signal: AbortSignal };

/**
 * Finds the events with the correlation id of `event`: the causes back to the request, and the later effects of the
 * request.
 */
export async function readCauseChain(start: Start, event: AuditEvent): Promise<CauseChain> {
  if (event.correlationId === undefined) return { links: [{ event, depth: 0 }], isCut: false };
  const same = condition('correlationId', '=', event.correlationId);
  const isRoot = ({ cause }: AuditEvent): boolean => cause === undefined;
  const [earlier, later] = await Promise.all([
    find(start, { fieldSelector: `${same},position<=${event.position}`, sort: 'position,desc' }, isRoot),
    find(start, { fieldSelector: `${same},position>=${event.position}`, sort: 'position' }, () => false),
  ]);
  const events = new Map([...earlier.events, ...later.events].map((each) => [each.position, each]));
  const ordered = [...events.values()].sort((left, right) => (isLater(left.position, right.position) ? 1 : -1));
  return { links: withDepths(ordered), isCut: earlier.isCut || later.isCut };
}

type Selection = { readonly fieldSelector: string; readonly sort: string };

async function find(
  { client, domain, signal }: Start,
  selection: Selection,
  isLast: (event: AuditEvent) => boolean,
): Promise<{ readonly events: readonly AuditEvent[]; readonly isCut: boolean }> {
  const events: AuditEvent[] = [];
  let token: string | undefined;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const query = { ...selection, limit: pageEvents, continue: token };
    const page = await readEventPage<AuditEvent>(client, eventsPath(domain), { query, signal });
    events.push(...page.items);
    token = page.continue;
    if (token === undefined || page.items.some(isLast)) return { events, isCut: false };
  }
  return { events, isCut: true };
}

function withDepths(events: readonly AuditEvent[]): readonly ChainLink[] {
  const depths = new Map<string, number>();
  return events.map((event) => {
    const depth = event.cause === undefined ? 0 : (depths.get(event.cause) ?? 0) + 1;
    depths.set(event.id, depth);
    return { event, depth };
  });
}
