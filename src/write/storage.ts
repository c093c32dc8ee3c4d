import type { Command, WriteContext } from '../command/command.ts';
import type { State } from '../command/evolve.ts';
import type { ResourceObject } from '../resource/object.ts';

/** The disk as writers see it. */
export type WriterDisk = {
  /** Little is free: only what makes room or keeps the platform going is written. */
  isShort(): boolean;
  /** Less than half of the reserve is free: of the platform's writes those that clients cause stop, too. */
  isScarce(): boolean;
  /** An event of so many bytes is about to be appended. */
  take(eventBytes: number): void;
};

type Write = {
  readonly command: Command;
  readonly context: WriteContext;
  readonly state: State;
  /** As the write leaves it. */
  readonly object: ResourceObject;
};

/** Parts of the platform that write because a client asks for something. */
const causedByClients: ReadonlySet<string> = new Set(['login', 'tokens']);

/** Room for numbers that become a digit longer where a finalizer goes. */
const grownBytesMax = 64;

/**
 * Whether a write is refused because the disk is short. Deletions, the removal of finalizers that hold a deletion back, and
 * the platform's own writes are not. It does not depend on rights: a super administrator's create takes the same room.
 */
export function isHeldBack(disk: WriterDisk | undefined, write: Write): boolean {
  return disk !== undefined && disk.isShort() && !isCarriedOut(disk, write);
}

function isCarriedOut(disk: WriterDisk, { command, context, state, object }: Write): boolean {
  if (command.type === 'delete' || command.type === 'collect') return true;
  const { origin, subject } = context;
  const isCaused = subject.kind === 'platform' && causedByClients.has(subject.part);
  if (origin === 'platform') return !isCaused || !disk.isScarce();
  return state.kind === 'live' && freesDeletion(state.object, object);
}

/** A marked object loses a finalizer and becomes no larger. */
function freesDeletion(before: ResourceObject, after: ResourceObject): boolean {
  if (before.metadata.deletionTimestamp === undefined) return false;
  if ((after.metadata.finalizers?.length ?? 0) >= (before.metadata.finalizers?.length ?? 0)) return false;
  return bytesOf(after) <= bytesOf(before) + grownBytesMax;
}

function bytesOf(object: ResourceObject): number {
  return Buffer.byteLength(JSON.stringify(object));
}
