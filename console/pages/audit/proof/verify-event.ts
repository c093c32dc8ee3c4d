import { ClientError, type RemoteClient } from 'ledgerplane/client';

import { exactBase64, hasWebCrypto, hex, sha256, utf8, type Bytes } from './bytes.ts';
import type { Check } from './check.ts';
import { isIncluded, leafHash } from './merkle.ts';
import { hashesIn, verifyCheckpoint, type Hashes, type VerifiedCheckpoint } from './verify-checkpoint.ts';

/** The members of an event that its proof is about, as the page shows them. */
export type ProvenEvent = {
  readonly id: string;
  readonly position: string;
  readonly event: string;
  readonly version: number;
  readonly actor?: string;
  readonly time: string;
};

export type VerifiedEvent = {
  readonly against: VerifiedCheckpoint;
  /** The index of the leaf. */
  readonly index: number;
  /** The entry of the leaf. */
  readonly entry: string;
  readonly checks: readonly Check[];
};

type InclusionAnswer = Hashes & { readonly index: number; readonly entry: string };

/**
 * Verifies that the log contains an event, with the content that the page shows: the checkpoint, the inclusion proof,
 * and the recorded bytes of the event. All computations are done in this browser.
 */
export async function verifyEvent(
  { client, domain }: { readonly client: RemoteClient; readonly domain: string },
  event: ProvenEvent,
  signal: AbortSignal,
): Promise<VerifiedEvent> {
  const against = await verifyCheckpoint(client, signal);
  const { size, root } = against.checkpoint;
  const query = { id: event.id, position: event.position, size };
  const proof = await client.request<InclusionAnswer>('/audit/tree/inclusion', { query, signal });
  if (proof === undefined) throw new Error('The server sent no proof');
  const { index, entry } = proof;
  if (!hasWebCrypto()) return { against, index, entry, checks: against.checks };
  const leaf = await leafHash(utf8(entry));
  const isInTree = await isIncluded({ leaf, index, size, root, hashes: hashesIn(proof) });
  const named = namedIn(entry);
  const isOfEvent = named.id === event.id && named.type === event.event && named.revision === event.version;
  const checks: readonly Check[] = [
    { key: isInTree ? 'included' : 'notIncluded', state: isInTree ? 'passed' : 'failed', values: { index, size } },
    { key: isOfEvent ? 'named' : 'otherEvent', state: isOfEvent ? 'passed' : 'failed' },
    await contentCheck({ client, domain }, { event, index, named }, signal),
    ...against.checks,
  ];
  return { against, index, entry, checks };
}

type Entry = {
  readonly revision: unknown;
  readonly id: unknown;
  readonly type: unknown;
  readonly metadata: unknown;
  readonly data: unknown;
};

/** Decodes an entry; without members if it is malformed. */
function namedIn(entry: string): Partial<Entry> {
  try {
    const [, , revision, id, type, metadata, data] = JSON.parse(entry) as readonly unknown[];
    return { revision, id, type, metadata, data };
  } catch {
    return {};
  }
}

type Content = { readonly event: ProvenEvent; readonly index: number; readonly named: Partial<Entry> };
type Recorded = string | { readonly base64?: string; readonly sha256?: string };
type EventLine = { readonly kind: string; readonly metadata: Recorded; readonly data: Recorded };

/**
 * Compares the recorded bytes, which an export contains, with the hashes in the leaf, and the actor and the time in
 * them with those that the page shows.
 */
async function contentCheck(
  { client, domain }: { readonly client: RemoteClient; readonly domain: string },
  { event, index, named }: Content,
  signal: AbortSignal,
): Promise<Check> {
  const leaf = `leaf:${String(index)}`;
  const path = `/apis/audit.${domain}/v1alpha1/export`;
  let lines: string;
  try {
    lines = await client.requestText(path, { query: { from: leaf, until: leaf }, accept: '*/*', signal });
  } catch (error) {
    if (error instanceof ClientError && error.status === 403) return { key: 'contentForbidden', state: 'unknown' };
    throw error;
  }
  const line = lines
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each) as EventLine)
    .find(({ kind }) => kind === 'Event');
  if (line === undefined) return { key: 'otherContent', state: 'failed' };
  const areRecorded = (await digestOf(line.metadata)) === named.metadata && (await digestOf(line.data)) === named.data;
  const { actor, time } = JSON.parse(typeof line.metadata === 'string' ? line.metadata : '{}') as Partial<ProvenEvent>;
  if (!areRecorded || actor !== event.actor || !isShownTime(time, event.time))
    return { key: 'otherContent', state: 'failed' };
  return { key: 'content', state: 'passed', values: { actor: actor ?? '', time: event.time } };
}

/** A history shows no time earlier than that of an event before, so a shown time may be later than the recorded one. */
function isShownTime(recorded: string | undefined, shown: string): boolean {
  return recorded !== undefined && Date.parse(recorded) <= Date.parse(shown);
}

async function digestOf(recorded: Recorded): Promise<string | undefined> {
  if (typeof recorded !== 'string' && recorded.sha256 !== undefined) return recorded.sha256;
  const bytes: Bytes | undefined = typeof recorded === 'string' ? utf8(recorded) : exactBase64(recorded.base64 ?? '');
  return bytes === undefined ? undefined : hex(await sha256(bytes));
}
