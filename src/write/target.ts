import { expectedOf, type State } from '../command/evolve.ts';
import { streamName, type ExpectedRevision, type StreamName } from '../log/log.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

/** The object of a write, with its folded state at the beginning of the attempt. */
export type Target = {
  readonly type: ResourceType;
  readonly name: string;
  readonly stream: StreamName;
  readonly state: State;
};

export function streamOf(type: ResourceType, name: string): StreamName {
  return streamName(`object:${type.key}/${name}`);
}

/** Returns the stored object; undefined without an object. */
export function storedIn({ state }: Target): ResourceObject | undefined {
  return state.kind === 'live' ? state.object : undefined;
}

export function baseOf({ stream, state }: Target): { readonly me: StreamName; readonly base: ExpectedRevision } {
  return { me: stream, base: expectedOf(state) };
}
