import type { Command, WriteContext } from '../command/command.ts';
import type { State } from '../command/evolve.ts';
import type { ResourceObject } from '../resource/object/object.ts';

/** The disk as writers see it. */
export type WriterDisk = {
  /** Little is free: only what makes room or keeps the platform going is written. */
  isShort(): boolean;
  /** Less than half of the reserve is free: of the platform's writes those that clients cause stop, too. */
  isScarce(): boolean;
  /** Takes one of the few log-ins that super administrators have while `isScarce`; false where none is left for now. */
  takeLogIn(): boolean;
  /** An event of so many bytes is about to be appended. */
  take(eventBytes: number): void;
};

type Write = {
  readonly command: Command;
  readonly context: WriteContext;
  readonly state: State;
  /** As the write leaves it. */
  readonly object: ResourceObject;
  /** Whom it is charged to is a super administrator, or the platform itself. */
  readonly isTrusted: boolean;
  /** An earlier attempt of it was let through, and has left something in the log. */
  readonly isBegun: boolean;
};


/** Room for numbers that become a digit longer where a finalizer goes. */
const grownBytesMax = 64;

/**
 * Whether a write is refused because the disk is short. Deletions, the removal of finalizers that hold a deletion back,
 * what comes with installed plugins and the platform's own writes are not. It does not depend on rights: a super
 * administrator's create takes the same room. Only log-ins do, once little is left, as somebody has to make room.
 */
export function isHeldBack(disk: WriterDisk | undefined, write: Write): boolean {
  return disk !== undefined && disk.isShort() && !isCarriedOut(disk, write);
}

function isCarriedOut(disk: WriterDisk, write: Write): boolean {
  const { command, context: { origin, isShipped }, state, object } = write;
  if (command.type === 'fence') return false;
  if (command.type === 'delete' || command.type === 'collect' || isShipped === true) return true;
  if (origin === 'platform') return !disk.isScarce() || isDoneWhenScarce(disk, write);
  return state.kind === 'live' && freesDeletion(state.object, object);
}

/** Of the platform's writes those that clients cause stop: log-ins of others, and notes of when tokens were used. */
function isDoneWhenScarce(disk: WriterDisk, { context: { subject }, isTrusted, isBegun }: Write): boolean {
  const part = subject.kind === 'platform' ? subject.part : undefined;
  if (part === 'login') return isTrusted && (isBegun || disk.takeLogIn());
  return part !== 'tokens';
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
