import { expectedOf, type State } from '../command/evolve.ts';
import { streamName, type ExpectedRevision, type StreamName } from '../log/log.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

/** The object of a write, with the state of the object that this node had folded when the attempt began. */
export type Target = {
  readonly type: ResourceType;
  readonly name: string;
  readonly stream: StreamName;
  readonly state: State;
};

export function streamOf(type: ResourceType, name: string): StreamName {
  return streamName(`object:${type.key}/${name}`);
}

/** Returns the object in this state; undefined if no object is stored. */
export function storedIn({ state }: Target): ResourceObject | undefined {
  return state.kind === 'live' ? state.object : undefined;
}

export function baseOf({ stream, state }: Target): { readonly me: StreamName; readonly base: ExpectedRevision } {
  return { me: stream, base: expectedOf(state) };
}
