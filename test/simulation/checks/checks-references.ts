import type { WriteOutcome } from '../../../src/command/command.ts';
import type { State } from '../../../src/command/evolve.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { StreamName } from '../../../src/log/log.ts';
import { nameOfStream } from '../history.ts';
import { streamOf, type Invocation, type World } from '../world.ts';

function parentOf(state: State): string | undefined {
  return state.kind === 'live' ? parentIn(state.object) : undefined;
}

function parentIn(object: ResourceObject): string | undefined {
  const { parent } = object['spec'] as { readonly parent?: string };
  return parent;
}

function isMissing(state: State): boolean {
  return state.kind !== 'live' || state.object.metadata.deletionTimestamp !== undefined;
}

/** 14: at no position does an object name another one that does not exist or is marked for deletion. */
export function checkReferences({ shared, history, coverage }: World): void {
  const states = new Map<StreamName, State>();
  for (const recorded of shared.events) {
    const { stream } = recorded;
    if (stream.startsWith('ref:') || stream.startsWith('closing:')) coverage.note(`event ${recorded.type}`);
    const step = stream.startsWith('object:') ? history.steps(stream)[recorded.revision] : undefined;
    if (step === undefined) continue;
    states.set(stream, step.after);
    if (!recorded.endsAppend) continue;
    for (const [referrer, state] of states) {
      const parent = parentOf(state);
      if (parent === undefined || parent === nameOfStream(referrer)) continue;
      coverage.note('an object names another one');
      if (isMissing(states.get(streamOf(parent)) ?? { kind: 'absent' }))
        throw new Error(`from ${recorded.position.toString()} on ${referrer} names ${parent}, which is deleted`);
    }
  }
}

type Refused = Extract<WriteOutcome, { readonly ok: false }>;

/** Returns the outcome if the write was refused because of a reference. */
export function referenceRefusal(outcome: WriteOutcome): Refused | undefined {
  if (outcome.ok) return undefined;
  const { reason } = outcome.rejection;
  const isMissing = reason === 'invalid' && JSON.stringify(outcome.rejection).includes('must name an existing object');
  return isMissing || reason === 'referenced' ? outcome : undefined;
}

/** Whether, at an instant meanwhile, another object named the deleted object, or the named one did not exist. */
export function isReferenceJustified(invocation: Invocation, { rejection }: Refused, world: World): boolean {
  const { command, answered } = invocation;
  const invoked = invocation.invoked - world.staleMs;
  const statesOf = (stream: StreamName): readonly State[] => world.history.statesBetween(stream, invoked, answered);
  if (rejection.reason === 'referenced') {
    const deleted = command.type === 'create' ? undefined : command.name;
    return [...world.history.streams.keys()].some(
      (stream) => nameOfStream(stream) !== deleted && statesOf(stream).some((state) => parentOf(state) === deleted),
    );
  }
  const text = JSON.stringify(rejection).replaceAll('\\', '');
  const [, parent = ''] = /"([^"]+)" (?:does not exist|is being deleted)/u.exec(text) ?? [];
  return statesOf(streamOf(parent)).some(isMissing);
}
