import type { Command, WriteContext } from '../../command/command.ts';
import type { State } from '../../command/evolve.ts';
import type { ResourceObject } from '../../resource/object/object.ts';

/** The disk as writers see it. */
export type WriterDisk = {
  /** Little space is free: only writes that free space, and the platform's own, are accepted. */
  isShort(): boolean;
  /** Less than half of the reserve is free: platform writes that clients cause are refused as well. */
  isScarce(): boolean;
  /** Takes one of the few log-ins that super administrators have while `isScarce`; false when none is left. */
  takeLogIn(): boolean;
  /** Records that an event of this size is about to be appended. */
  take(eventBytes: number): void;
};

type Write = {
  readonly command: Command;
  readonly context: WriteContext;
  readonly state: State;
  /** The object after the write. */
  readonly object: ResourceObject;
  /** The write is charged to a super administrator or to the platform. */
  readonly isTrusted: boolean;
  /** Whether an earlier attempt was accepted and has appended something. */
  readonly isBegun: boolean;
};

/** Room for numbers that become a digit longer when a finalizer is removed. */
const grownBytesMax = 64;

/**
 * Whether a write is refused because the disk is nearly full. Accepted are deletions, removals of finalizers during a
 * deletion, objects of installed plugins and the platform's own writes. This does not depend on rights: a super
 * administrator's create takes the same space. Log-ins are the exception: they depend on rights, since an administrator
 * must be able to log in and free space.
 */
export function isHeldBack(disk: WriterDisk | undefined, write: Write): boolean {
  return disk !== undefined && disk.isShort() && !isCarriedOut(disk, write);
}

function isCarriedOut(disk: WriterDisk, write: Write): boolean {
  const {
    command,
    context: { origin, isShipped },
    state,
    object,
  } = write;
  if (command.type === 'fence') return false;
  if (command.type === 'delete' || command.type === 'collect' || isShipped === true) return true;
  if (origin === 'platform') return !disk.isScarce() || isDoneWhenScarce(disk, write);
  return state.kind === 'live' && freesDeletion(state.object, object);
}

/**
 * Whether a write continues when space is scarce. Platform writes that clients cause do not: log-ins of other users,
 * and records of token use.
 */
function isDoneWhenScarce(disk: WriterDisk, { context: { subject }, isTrusted, isBegun }: Write): boolean {
  const part = subject.kind === 'platform' ? subject.part : undefined;
  if (part === 'login') return isTrusted && (isBegun || disk.takeLogIn());
  return part !== 'tokens';
}

/** Whether a marked object loses a finalizer and does not grow. */
function freesDeletion(before: ResourceObject, after: ResourceObject): boolean {
  if (before.metadata.deletionTimestamp === undefined) return false;
  if ((after.metadata.finalizers?.length ?? 0) >= (before.metadata.finalizers?.length ?? 0)) return false;
  return bytesOf(after) <= bytesOf(before) + grownBytesMax;
}

function bytesOf(object: ResourceObject): number {
  return Buffer.byteLength(JSON.stringify(object));
}
