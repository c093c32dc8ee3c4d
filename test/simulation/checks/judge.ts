import type { Command } from '../../../src/command/command.ts';
import { decide, type Decision } from '../../../src/command/decide.ts';
import type { State } from '../../../src/command/evolve.ts';
import type { Facts } from '../../../src/command/facts.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { Step } from '../history.ts';
import type { Invocation } from '../world.ts';
import type { Stage } from '../evolution/stages.ts';
import type { VersionName } from '../evolution/conversions.ts';

export type Judged = {
  readonly state: State;
  readonly command: Command;
  readonly facts: Partial<Facts>;
  /** The version that the client asked for. */
  readonly version: VersionName | undefined;
};

/** What a write must have come to, by the declarations of the type that there are in a run. */
export type Judge = {
  /** What the declaration of an event decides; without an event, what each declaration of the run decides. */
  decisions(judged: Judged, step: Step | undefined): readonly Decision[];
  /** The stages by whose declaration the event may have been decided. */
  stagesOf(step: Step): readonly Stage[];
  /** The commands of which the platform wrote the event. */
  commandsOf(step: Step): readonly Command[];
  /** Whether this answers the write of the event. */
  isAnswer(step: Step, bytes: Uint8Array, invocation: Invocation): boolean;
  /** The forms in which a fence may repeat the object. */
  repetitionsOf(step: Step): readonly ResourceObject[];
};

/** Of runs in which objects have one form. */
export function plainJudge(facts: Facts): Judge {
  return {
    decisions: ({ state, command, facts: given }) => [decide(state, command, { ...facts, ...given })],
    stagesOf: () => [],
    commandsOf: () => [],
    isAnswer: ({ bytes }, answered) => bytes?.equals(answered) === true,
    repetitionsOf: ({ before }) => (before.kind === 'live' ? [before.object] : []),
  };
}
