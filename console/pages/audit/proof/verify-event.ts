import { ClientError, type RemoteClient } from 'ledgerplane/client';

import { membersOf, parsedJson } from '../events/json.ts';
import { exactBase64, hasWebCrypto, hex, sha256, utf8 } from './bytes.ts';
import type { Check } from './check.ts';
import { isIncluded, leafHash } from './merkle.ts';
import { hashesIn, verifyCheckpoint, type Hashes, type VerifiedCheckpoint } from './verify-checkpoint.ts';

/** The members of an event that the proof covers, as the page shows them. */
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
 * Verifies that the log contains an event with the content that the page shows. Checks the checkpoint, the inclusion
 * proof and the recorded bytes of the event. All computations run in this browser.
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

function namedIn(entry: string): Partial<Entry> {
  const members = parsedJson(entry);
  const list: readonly unknown[] = Array.isArray(members) ? members : [];
  const [, , revision, id, type, metadata, data] = list;
  return { revision, id, type, metadata, data };
}

type Content = { readonly event: ProvenEvent; readonly index: number; readonly named: Partial<Entry> };

/**
 * Compares the recorded bytes in an export with the hashes in the leaf, and the recorded actor and time with the actor
 * and time on the page.
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
    lines = await client.requestText(path, { query: { from: leaf, until: leaf }, accept: 'application/jsonl', signal });
  } catch (error) {
    if (error instanceof ClientError && error.status === 403) return { key: 'contentForbidden', state: 'unknown' };
    throw error;
  }
  const { metadata, data } = eventLineIn(lines);
  const areRecorded = (await digestOf(metadata)) === named.metadata && (await digestOf(data)) === named.data;
  const { actor, time } = membersOf(typeof metadata === 'string' ? parsedJson(metadata) : undefined);
  if (!areRecorded || actor !== event.actor || !isShownTime(time, event.time))
    return { key: 'otherContent', state: 'failed' };
  return { key: 'content', state: 'passed', values: { actor: event.actor ?? '', time: event.time } };
}

/** Returns the members of the event in an export of one event. */
function eventLineIn(lines: string): Readonly<Record<string, unknown>> {
  const decoded = lines.split('\n').map((line) => membersOf(parsedJson(line)));
  return decoded.find(({ kind }) => kind === 'Event') ?? {};
}

/**
 * A history shows no time earlier than the time of a previous event. So the shown time may be later than the recorded
 * time.
 */
function isShownTime(recorded: unknown, shown: string): boolean {
  return typeof recorded === 'string' && Date.parse(recorded) <= Date.parse(shown);
}

/** An export contains the bytes as text or in base64. For secrets, it contains only the hash. */
async function digestOf(recorded: unknown): Promise<string | undefined> {
  if (typeof recorded === 'string') return hex(await sha256(utf8(recorded)));
  const { sha256: digest, base64 } = membersOf(recorded);
  if (typeof digest === 'string') return digest;
  const bytes = typeof base64 === 'string' ? exactBase64(base64) : undefined;
  return bytes === undefined ? undefined : hex(await sha256(bytes));
}
