import { delay, type Clock } from '../base/clock.ts';
import type { WriteOutcome } from '../command/command.ts';
import { generateNameAttemptsMax } from '../limits/objects.ts';
import { writeAttemptsMax, writeLossesAtOnce, writeLossWaitMsMax } from '../limits/writes.ts';
import { keptChanging } from './refusals.ts';

/**
 * The result of one attempt of a command. `again`: the command must be decided again. `lost`: another writer appended
 * first.
 */
export type Attempt = WriteOutcome | 'again' | 'lost';

export type Attempted = {
  readonly clock: Clock;
  /**
   * The uid of the write. Delays after lost races are computed from the uid, so that two writes wait for different
   * times.
   */
  readonly uid: string;
  /** Draws another random name after a collision; undefined if the client chose the name. */
  readonly redraw: (() => void) | undefined;
};

/** Repeats the attempt until the write succeeds or is refused. Refuses the write after `writeAttemptsMax` attempts. */
export async function retryAttempts(
  attempt: () => Attempt | Promise<Attempt>,
  attempted: Attempted,
): Promise<WriteOutcome> {
  const { redraw } = attempted;
  let draws = 1;
  let losses = 0;
  for (let tries = 0; tries < writeAttemptsMax; tries += 1) {
    const outcome = await attempt();
    if (outcome === 'lost') await delayRetry(attempted, (losses += 1));
    if (outcome === 'lost' || outcome === 'again') continue;
    const isTaken = !outcome.ok && outcome.rejection.reason === 'already-exists';
    if (!isTaken || redraw === undefined || draws === generateNameAttemptsMax) return outcome;
    redraw();
    draws += 1;
  }
  return keptChanging();
}

/** The first retries are immediate. Later delays grow, and differ between writes. */
async function delayRetry({ clock, uid }: Attempted, losses: number): Promise<void> {
  if (losses <= writeLossesAtOnce) return;
  const chance = Number.parseInt(uid.replaceAll('-', '').slice(losses, losses + 6), 16) / 0x1_00_00_00;
  await delay(clock, chance * Math.min(2 ** losses, writeLossWaitMsMax));
}
