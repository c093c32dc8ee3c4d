import type { Command, WriteContext } from '../../command/command.ts';
import type { State } from '../../command/evolve.ts';
import type { ResourceObject } from '../../resource/object/object.ts';

/** The state of the disk for the admission of writes. */
export type WriterDisk = {
  /**
   * Whether less space is free than the reserve. Then only deletions, removals of a marked object's finalizers, objects
   * of installed plugins and the platform's own writes are accepted.
   */
  isShort(): boolean;
  /**
   * Whether less than half of the reserve is free. Then some of the platform's own writes are refused, too: those that
   * clients cause.
   */
  isScarce(): boolean;
  /** Takes one of the few log-ins for super administrators while `isScarce`. Returns false if no log-in is left. */
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
  /** Whether the write is charged to a super administrator or to the platform. */
  readonly isTrusted: boolean;
  /** Whether an earlier attempt of the write was accepted and has appended a secret. */
  readonly isBegun: boolean;
};

/**
 * The bytes by which an object may grow when a finalizer is removed, because numbers in the metadata may get another
 * digit.
 */
const grownBytesMax = 64;

/**
 * Whether a write is refused because the disk is nearly full. Deletions, removals of finalizers during a deletion and
 * objects of installed plugins are accepted, and so are the platform's own writes, unless space is scarce. This does
 * not depend on rights, because an object of a super administrator needs as much space as an object of another user.
 * Only log-ins depend on rights, because a super administrator must be able to log in and free space.
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
 * Whether a platform write is accepted while space is scarce. Platform writes that clients cause are refused: records
 * of token use, and log-ins, except a few log-ins of super administrators.
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
