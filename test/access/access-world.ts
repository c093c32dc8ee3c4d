import { PermissionTables } from '../../projections/permissions/permission-tables.ts';
import type { PermissionReader } from '../../src/read/permission-reader.ts';
import type { ObjectEvent } from '../../src/command/event.ts';
import type { Subject } from '../../src/command/subject.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { logPosition, streamName, streamRevision, type RecordedEvent } from '../../src/log/log.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import { requestInfo } from '../../src/resource/query/request-path.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { compileType } from '../../src/resource/type/type-declaration.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { MemoryObjects } from '../support/memory/memory-objects.ts';
import type { RawBinding, RawRole, RawWorld, Request, Who } from './oracle.ts';

export const domain = 'svc.run';

/** Types of the core group with no schema to speak of: tables fold whatever the log holds. */
export function coreType(kind: string, plural: string): ResourceType {
  const compiled = compileType(
    {
      group: '',
      version: 'v1alpha1',
      kind,
      singular: kind.toLowerCase(),
      plural,
      schema: { type: 'object', additionalProperties: true },
      indexes: [],
    },
    { plugin: 'platform', bundled: true, domain },
  );
  if (!compiled.ok) throw new Error(compiled.problems.join());
  return compiled.type;
}

export const coreTypes = [
  coreType('Role', 'roles'),
  coreType('RoleBinding', 'rolebindings'),
  coreType('User', 'users'),
  coreType('PersonalAccessToken', 'personalaccesstokens'),
  coreType('Session', 'sessions'),
];

export type Plural = 'roles' | 'rolebindings' | 'users' | 'personalaccesstokens' | 'sessions';
/** `deleted` removes it for good; `marked` only asks for it. */
export type Written = {
  readonly plural: Plural;
  readonly name: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly state: 'live' | 'marked' | 'deleted';
};

/** Objects written as events, folded by a read model, and the tables that live on its feed. */
export class AccessWorld {
  readonly objects = new MemoryObjects(new MemoryLog(), new FakeClock(), coreTypes);
  readonly tables = new PermissionTables({ reader: this.objects, feed: this.objects, domain });
  readonly #versions = new Map<string, number>();
  #position = 0;

  /** One commit. */
  commit(writes: readonly Written[]): void {
    this.objects.apply(writes.map((write) => this.#event(write)));
  }

  /** Tables that never saw a change. */
  fresh(): PermissionTables {
    const tables = new PermissionTables({ reader: this.objects, feed: { subscribe: () => () => undefined }, domain });
    tables.load();
    return tables;
  }

  #event({ plural, name, members, metadata, state }: Written): RecordedEvent {
    const key = `${plural}/${name}`;
    const version = (this.#versions.get(key) ?? -1) + 1;
    this.#versions.set(key, version);
    this.#position += 1;
    const object: ResourceObject = {
      apiVersion: 'v1alpha1',
      kind: 'Any',
      ...members,
      metadata: {
        name,
        uid: idOf(key),
        version,
        generation: 1,
        creationTimestamp: '2026-01-01T00:00:00.000Z',
        ...metadata,
        ...(state === 'live' ? {} : { deletionTimestamp: '2026-01-02T00:00:00.000Z' }),
      },
    };
    const event: ObjectEvent =
      state === 'deleted'
        ? { type: 'ObjectDeleted', object, values: [] }
        : { type: version === 0 ? 'ObjectCreated' : 'ObjectUpdated', object, values: [] };
    const proposed = encodeEvent(idOf(`${key} ${String(version)}`), event, {
      actor: 'test',
      verb: 'update',
      requestId: 'r',
      time: '2026-01-01T00:00:00.000Z',
      schema: 1,
      $correlationId: 'r',
    });
    const place = {
      revision: streamRevision(version),
      position: logPosition(BigInt(this.#position)),
      endsAppend: true,
    };
    return { ...proposed, data: Buffer.from(proposed.data), stream: streamName(`object:${key}`), ...place };
  }
}

export function roleWrite({ name, labels, annotations, rules }: RawRole, state: Written['state'] = 'live'): Written {
  return { plural: 'roles', name, members: { rules }, metadata: { labels, annotations }, state };
}

export function bindingWrite(name: string, { role, users }: RawBinding, state: Written['state'] = 'live'): Written {
  return {
    plural: 'rolebindings',
    name,
    state,
    members: {
      roleRef: { apiGroup: '', kind: 'Role', name: role },
      subjects: users.map((user) => ({ apiGroup: '', kind: 'User', name: user })),
    },
  };
}

/** What the oracle sees of the writes so far: the last of each name, where it is live. */
export class RawObjects {
  readonly #roles = new Map<string, RawRole>();
  readonly #bindings = new Map<string, RawBinding>();

  role(role: RawRole, state: Written['state']): Written {
    if (state === 'live') this.#roles.set(role.name, role);
    else this.#roles.delete(role.name);
    return roleWrite(role, state);
  }

  binding(name: string, binding: RawBinding, state: Written['state']): Written {
    if (state === 'live') this.#bindings.set(name, binding);
    else this.#bindings.delete(name);
    return bindingWrite(name, binding, state);
  }

  world(): RawWorld {
    return { roles: [...this.#roles.values()], bindings: [...this.#bindings.values()] };
  }
}

export function subjectOf({ user, tokenRoles }: Who): Subject {
  if (user === undefined) return { kind: 'visitor' };
  return {
    kind: 'user',
    name: user,
    credential:
      tokenRoles === undefined
        ? { kind: 'session', uid: 's', userUid: 'u' }
        : { kind: 'token', uid: 't', name: 'token', userUid: 'u', roles: tokenRoles },
  };
}

/** A request as the server would read it. */
export function asked(text: string): Request {
  const [method = '', target = '', watch] = text.split(' ');
  const request = requestInfo(method, target, watch === undefined ? 'no watch' : 'watch');
  if (request.kind === 'malformed') throw new Error(request.detail);
  return request;
}

export function decided(tables: PermissionReader, who: Who, request: Request, plugin: string | undefined): boolean {
  return tables.rightsOf(subjectOf(who)).find(request, () => plugin) !== undefined;
}
