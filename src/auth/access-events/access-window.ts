import { networkOf } from '../../base/network-of.ts';
import type { AccessEntry, AccessEvent, AccessKind } from '../../command/event.ts';
import {
  accessCertainBytesMax,
  accessEntriesPerSourceMax,
  accessPathLengthMax,
  accessSourcesMax,
} from '../../limits/access.ts';
import type { Access } from './access-recorder.ts';

/**
 * The accesses between two events. The window counts all accesses, and describes as many as the limits allow. Log-ins
 * and log-outs have their own limit, because clients can cause any number of refusals.
 */
export class AccessWindow {
  readonly #from: string;
  readonly #takeBytes: (bytes: number) => boolean;
  readonly #counts = new Map<AccessKind, number>();
  readonly #entries: AccessEntry[] = [];
  /** The number of refusals by kind and source, up to the limit of one source. */
  readonly #sources = new Map<string, number>();
  #certainBytes = 0;

  /** `takeBytes` returns whether a refusal of this size may be described. */
  constructor(from: string, takeBytes: (bytes: number) => boolean) {
    this.#from = from;
    this.#takeBytes = takeBytes;
  }

  /** Counts the access. Returns whether the event will describe the access. */
  add(access: Access, time: string): boolean {
    const { kind } = access;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    const isCertain = kind === 'login' || kind === 'logout';
    if (!isCertain && !this.#takeSource(access)) return false;
    const entry = entryOf(access, time);
    const bytes = Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (!(isCertain ? this.#takeCertain(bytes) : this.#takeBytes(bytes))) return false;
    this.#entries.push(entry);
    return true;
  }

  event(until: string): AccessEvent {
    return {
      type: 'AccessRecorded',
      from: this.#from,
      until,
      counts: Object.fromEntries(this.#counts),
      entries: this.#entries,
    };
  }

  #takeSource({ kind, user, address }: Access): boolean {
    const source = `${kind} ${kind === 'forbidden' && typeof user === 'string' ? user : networkOf(address)}`;
    const count = this.#sources.get(source);
    if (count === undefined ? this.#sources.size >= accessSourcesMax : count >= accessEntriesPerSourceMax) return false;
    this.#sources.set(source, (count ?? 0) + 1);
    return true;
  }

  #takeCertain(bytes: number): boolean {
    if (this.#certainBytes + bytes > accessCertainBytesMax) return false;
    this.#certainBytes += bytes;
    return true;
  }
}

function entryOf({ kind, requestId, address, user, token, verb, path }: Access, time: string): AccessEntry {
  return {
    time,
    kind,
    requestId,
    ...(address === '' ? {} : { address }),
    ...(typeof user === 'string' ? { user } : {}),
    ...(user === null ? { isUnknownUser: true } : {}),
    ...(token === undefined ? {} : { token }),
    ...(verb === undefined ? {} : { verb }),
    ...(path === undefined ? {} : { path: path.slice(0, accessPathLengthMax) }),
  };
}
