import { delay, type Clock } from '../base/clock.ts';
import type { WriteOutcome } from '../command/command.ts';
import { generateNameAttemptsMax } from '../limits/objects.ts';
import { writeAttemptsMax, writeLossesAtOnce, writeLossWaitMsMax } from '../limits/writes.ts';
import { keptChanging } from './refusals.ts';

/** One try at a command. `again`: the state moved on, decide anew; `lost`: to another's append. */
export type Attempt = WriteOutcome | 'again' | 'lost';

export type Attempted = {
  readonly clock: Clock;
  /** The write's own: no two writes wait equally long after a loss. */
  readonly uid: string;
  /** Draws another name after a collision; undefined where the client gave the name. */
  readonly redraw: (() => void) | undefined;
};

/** Tries until the command is decided on a state that was still the current one when it was appended. */
export async function settleAttempts(attempt: () => Promise<Attempt>, attempted: Attempted): Promise<WriteOutcome> {
  const { redraw } = attempted;
  let draws = 1;
  let losses = 0;
  for (let tries = 0; tries < writeAttemptsMax; tries += 1) {
    const outcome = await attempt();
    if (outcome === 'lost') await putOff(attempted, losses += 1);
    if (outcome === 'lost' || outcome === 'again') continue;
    const isTaken = !outcome.ok && outcome.rejection.reason === 'already-exists';
    if (!isTaken || redraw === undefined || draws === generateNameAttemptsMax) return outcome;
    redraw();
    draws += 1;
  }
  return keptChanging();
}

/** Only other nodes are lost to for long. At first all are as fast; later each waits longer, and none as long as the other. */
async function putOff({ clock, uid }: Attempted, losses: number): Promise<void> {
  if (losses <= writeLossesAtOnce) return;
  const chance = Number.parseInt(uid.replaceAll('-', '').slice(losses, losses + 6), 16) / 0x1_00_00_00;
  await delay(clock, chance * Math.min(2 ** losses, writeLossWaitMsMax));
}
