import type { Subject } from '../../command/subject.ts';
import { resourceRequest, type ResourceLocation, type ResourceRequest } from '../../resource/query/request-path.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

export type AllowsResource = (subject: Subject, verb: string, place: ResourceLocation) => boolean;

export type EventScopes = {
  /** Returns the object types that have events, as `<plural>.<group>`. */
  readonly objectTypes: () => readonly string[];
  /** The type of the events themselves. */
  readonly type: ResourceType;
  readonly allows: AllowsResource;
};

/** The object types with events that the subject may read. Undefined means all events. */
export type EventScope = readonly string[] | undefined;

export function allowedBy(allows: (subject: Subject, request: ResourceRequest) => boolean): AllowsResource {
  return (subject, verb, place) => allows(subject, resourceRequest(verb, place));
}

/**
 * Returns the scope of events that the subject may read. The verb `get` on events grants all events. The verb `get` on
 * `<plural>/history` grants the events of a type's objects.
 */
export function scopeOf(subject: Subject, scopes: EventScopes): EventScope {
  const { group, version, plural: resource } = scopes.type;
  if (scopes.allows(subject, 'get', { group, version, resource })) return undefined;
  return scopes.objectTypes().filter(mayReadHistory(subject, scopes));
}

/**
 * Returns a function that checks whether the subject may read the history of a type. The version in the request is
 * arbitrary, because rights do not depend on versions.
 */
function mayReadHistory(
  subject: Subject,
  { allows, type: { version } }: Pick<EventScopes, 'allows' | 'type'>,
): (type: string) => boolean {
  return (type) => {
    const dot = type.indexOf('.');
    const [resource, group] = dot === -1 ? [type, ''] : [type.slice(0, dot), type.slice(dot + 1)];
    return allows(subject, 'get', { group, version, resource, subresource: 'history' });
  };
}
