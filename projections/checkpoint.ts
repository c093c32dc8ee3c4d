import { logPosition, type LogIdentity, type LogPosition } from '../src/log/log.ts';

/** The identity of a folded log, and the position up to which the events of the log are folded. */
export type Checkpoint = LogIdentity & {
  readonly position: LogPosition;
  readonly eventId: string;
  /** The number of folded events. */
  readonly events: number;
  /** The latest accepted time of the folded events, in epoch milliseconds; 0 for the audit models. */
  readonly time: number;
};

/** @throws Error if the text is not a checkpoint. */
export function decodeCheckpoint(text: unknown): Checkpoint {
  const raw: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
  if (typeof raw !== 'object' || raw === null) throw new Error('the checkpoint of the read models is invalid');
  const { logId, epoch, position, eventId, events, time } = raw as Record<string, unknown>;
  if (
    typeof logId !== 'string' ||
    typeof position !== 'string' ||
    typeof eventId !== 'string' ||
    typeof epoch !== 'number' ||
    typeof events !== 'number' ||
    typeof time !== 'number'
  ) {
    throw new Error('the checkpoint of the read models is invalid');
  }
  return { logId, epoch, position: logPosition(BigInt(position)), eventId, events, time };
}

/** The position becomes a string, because a position can exceed the safe integers of JSON. */
export function encodeCheckpoint(checkpoint: Checkpoint): string {
  return JSON.stringify({ ...checkpoint, position: checkpoint.position.toString() });
}
