import type { Command, WriteContext } from '../../command/command.ts';
import type { State } from '../../command/evolve.ts';
import type { ResourceObject } from '../../resource/object/object.ts';

/** The state of the disk for the admission of writes. */
export type WriterDisk = {
  /**
   * Whether the free space is below the reserve. Only deletions, removals of a marked object's finalizers, objects of
   * installed plugins and the platform's own writes are then accepted.
   */
  isShort(): boolean;
  /** Whether the free space is below half of the reserve. Log-ins and records of token use are then refused too. */
  isScarce(): boolean;
  /** Takes one of the few log-ins for super administrators while `isScarce`. Returns false if none is left. */
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
  /** Whether an earlier attempt of the write has stored a secret. */
  readonly isBegun: boolean;
};

/**
 * The maximum growth of an object in bytes when a finalizer is removed. The object may grow, because a number in the
 * metadata may get another digit.
 */
const grownBytesMax = 64;

/**
 * Returns whether a write is refused because the disk is nearly full. Deletions, removals of finalizers during a
 * deletion and objects of installed plugins are accepted. The platform's own writes are accepted unless space is
 * scarce.
 *
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
 * Returns whether a platform write is accepted while space is scarce. Records of token use are refused. Log-ins are
 * refused, except for a few log-ins of super administrators.
 */
function isDoneWhenScarce(disk: WriterDisk, { context: { subject }, isTrusted, isBegun }: Write): boolean {
  const part = subject.kind === 'platform' ? subject.part : undefined;
  if (part === 'login') return isTrusted && (isBegun || disk.takeLogIn());
  return part !== 'tokens';
}

/** Returns whether a marked object loses a finalizer and does not grow. */
function freesDeletion(before: ResourceObject, after: ResourceObject): boolean {
  if (before.metadata.deletionTimestamp === undefined) return false;
  if ((after.metadata.finalizers?.length ?? 0) >= (before.metadata.finalizers?.length ?? 0)) return false;
  return bytesOf(after) <= bytesOf(before) + grownBytesMax;
}

function bytesOf(object: ResourceObject): number {
  return Buffer.byteLength(JSON.stringify(object));
}
