import type { LogPosition } from '../log/log.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { WatchEvent } from './frame.ts';

/**
 * Returns an event that contains only a position. `mark` adds Kubernetes' annotation for the end of the initial state.
 */
export function bookmark(type: ResourceType, position: LogPosition, mark?: 'initial-events-end'): WatchEvent {
  const annotations = mark === undefined ? {} : { annotations: { 'k8s.io/initial-events-end': 'true' } };
  const object = {
    kind: type.kind,
    apiVersion: type.apiVersion,
    metadata: { resourceVersion: position.toString(), ...annotations },
  };
  return { type: 'BOOKMARK', object: Buffer.from(JSON.stringify(object)), position };
}
