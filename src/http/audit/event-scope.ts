import type { Subject } from '../../command/subject.ts';
import { resourceRequest, type ResourceLocation, type ResourceRequest } from '../../resource/query/request-path.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

/** Whether a subject may make a request of a resource. */
export type Allows = (subject: Subject, verb: string, place: ResourceLocation) => boolean;

export type EventScopes = {
  /** The types of objects that have events, and no other ones. */
  readonly objectTypes: () => readonly string[];
  readonly type: ResourceType;
  readonly allows: Allows;
};

/** The types of objects of which the events may be read; undefined for all events, those of no object included. */
export type EventScope = readonly string[] | undefined;

export function allowedBy(allows: (subject: Subject, request: ResourceRequest) => boolean): Allows {
  return (subject, verb, place) => allows(subject, resourceRequest(verb, place));
}

/**
 * The events that the subject may read. `get` of events grants all, `get` of `<plural>/history` those of the objects
 * of a type.
 */
export function scopeOf(subject: Subject, scopes: EventScopes): EventScope {
  const { group, version, plural: resource } = scopes.type;
  if (scopes.allows(subject, 'get', { group, version, resource })) return undefined;
  return scopes.objectTypes().filter(mayReadHistory(subject, scopes));
}

/** Whether the subject may read the past of all objects of a type. */
export function mayReadHistory(
  subject: Subject,
  { allows, type: { version } }: Pick<EventScopes, 'allows' | 'type'>,
): (type: string) => boolean {
  return (type) => {
    const dot = type.indexOf('.');
    const [resource, group] = dot === -1 ? [type, ''] : [type.slice(0, dot), type.slice(dot + 1)];
    return allows(subject, 'get', { group, version, resource, subresource: 'history' });
  };
}
