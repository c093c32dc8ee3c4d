import { logPosition, type LogIdentity, type LogPosition } from '../src/log/log.ts';

/** The log and position up to which the tables are folded. */
export type Checkpoint = LogIdentity & {
  readonly position: LogPosition;
  readonly eventId: string;
  /** The number of folded events, and their latest time, in epoch milliseconds. */
  readonly events: number;
  readonly time: number;
};

/** @throws Error if the text is not a checkpoint. */
export function decodeCheckpoint(text: unknown): Checkpoint {
  const raw: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
  if (typeof raw !== 'object' || raw === null) throw new Error("the read models' checkpoint does not decode");
  const { logId, epoch, position, eventId, events, time } = raw as Record<string, unknown>;
  if (
    typeof logId !== 'string' ||
    typeof position !== 'string' ||
    typeof eventId !== 'string' ||
    typeof epoch !== 'number' ||
    typeof events !== 'number' ||
    typeof time !== 'number'
  ) {
    throw new Error("the read models' checkpoint does not decode");
  }
  return { logId, epoch, position: logPosition(BigInt(position)), eventId, events, time };
}

/** Positions can exceed the numbers of JSON, so they are strings. */
export function encodeCheckpoint(checkpoint: Checkpoint): string {
  return JSON.stringify({ ...checkpoint, position: checkpoint.position.toString() });
}
