import type { WriteOutcome } from '../command/command.ts';
import type { Decision } from '../command/decide.ts';
import type { Kept } from '../command/strategy.ts';
import { withToken } from '../resource/object/shown-object.ts';
import type { Attempt } from './attempts.ts';

/** Adds the text of a new token to the response of the write that created the token. */
export function shownOnce(outcome: Attempt, kept: Kept | undefined): Attempt {
  return typeof outcome === 'object' && outcome.ok && kept?.token !== undefined
    ? { ...outcome, bytes: withToken(outcome.bytes, kept.token) }
    : outcome;
}

export function refusalOf(decision: Decision, name: string): WriteOutcome {
  if (decision.ok) throw new Error(`invariant violated: an object named ${JSON.stringify(name)} was accepted`);
  return decision;
}
