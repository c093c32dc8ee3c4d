import { isObject } from '../../base/guards.ts';
import { deepEqual } from '../../base/json.ts';
import type { Command, WriteContext, WriteOutcome } from '../../command/command.ts';
import { invalid, notFound } from '../../command/refuse.ts';
import { confirmExists } from '../../write/confirm-exists.ts';
import type { Execute } from '../../write/execute.ts';
import { ownTextBytesMax } from '../../limits/access.ts';
import type { StoredObject, Wanted } from '../../read/objects.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { FieldRequirement, IndexRequirement, ListQuery, Selection } from '../../resource/query/list-query.ts';
import { bindFields } from '../../resource/query/bind-fields.ts';
import type { ResourceType, Violation } from '../../resource/type/resource-type.ts';
import { storedObject } from '../../resource/object/shown-object.ts';
import type { ResourcePorts, ResourceReader } from './item.ts';

export type Owned = {
  readonly type: ResourceType;
  /** The member of the spec that names the owner. The type must have an index for the member. */
  readonly member: 'owner' | 'user';
  readonly owner: string;
  /** The name of an object that lists and selections leave out. */
  readonly except?: string | undefined;
};

/** Restricts reads and writes to the objects of one owner. Objects of other owners appear as missing. */
export function ownedPorts({ reader, execute }: ResourcePorts, owned: Owned): ResourcePorts {
  return { reader: new OwnedReader(reader, owned), execute: ownedExecute({ reader, execute }, owned) };
}

class OwnedReader implements ResourceReader {
  readonly #reader: ResourceReader;
  readonly #owned: Owned;
  readonly #requirements: readonly IndexRequirement[];

  constructor(reader: ResourceReader, owned: Owned) {
    const { type, member, owner, except } = owned;
    const requirements: readonly FieldRequirement[] = [
      { field: `spec.${member}`, operator: 'in', values: [owner] },
      ...(except === undefined ? [] : [{ field: 'metadata.name', operator: 'notIn' as const, values: [except] }]),
    ];
    const bound = bindFields(requirements, type.indexes);
    if (!bound.ok) throw new Error(`${type.key}: ${bound.problem}`);
    this.#reader = reader;
    this.#owned = owned;
    this.#requirements = bound.requirements;
  }

  get snapshots(): ResourceReader['snapshots'] {
    return this.#reader.snapshots;
  }

  get(type: TypeKey, name: string): StoredObject | undefined {
    const stored = this.#reader.get(type, name);
    const { member, owner } = this.#owned;
    return stored !== undefined && identityOf(stored, member).owner === owner ? stored : undefined;
  }

  list(type: TypeKey, query: ListQuery): ReturnType<ResourceReader['list']> {
    return this.#reader.list(type, { ...query, selection: this.#narrowed(query.selection) });
  }

  async names(type: TypeKey, selection: Selection, signal?: Wanted): Promise<readonly string[]> {
    return this.#reader.names(type, this.#narrowed(selection), signal);
  }

  position(): ReturnType<ResourceReader['position']> {
    return this.#reader.position();
  }

  isKnown(position: Parameters<ResourceReader['isKnown']>[0]): boolean {
    return this.#reader.isKnown(position);
  }

  contains(...call: Parameters<ResourceReader['contains']>): ReturnType<ResourceReader['contains']> {
    return this.#reader.contains(...call);
  }

  #narrowed(selection: Selection): Selection {
    return { ...selection, fields: [...selection.fields, ...this.#requirements] };
  }
}

function ownedExecute({ reader, execute }: ResourcePorts, { member, owner }: Owned): Execute {
  return async (type, command, given) => {
    const context: WriteContext = { ...given, isOwn: true };
    if (command.type === 'collect' || command.type === 'fence') return execute(type, command, context);
    if (command.type === 'create') {
      const { metadata } = command.object;
      return (
        refusedAs(type, nameIn(metadata), { after: isObject(metadata) ? metadata : {}, before: {} }) ??
        execute(type, command, context)
      );
    }
    const found = await lookedUp(type, command.name, { reader, execute, context });
    if ('refused' in found) return found.refused;
    const { stored, counted } = found;
    const { uid, owner: itsOwner } = identityOf(stored, member);
    if (itsOwner !== owner)
      return { ok: false, rejection: { reason: 'not-found', detail: notFound(type, command.name) } };
    if (command.type === 'find') return execute(type, command, counted);
    const own = pinned(command, uid);
    if (own.type === 'delete') return execute(type, own, counted);
    const refused = await changeRefused(type, own, { stored, execute, context: counted });
    return refused ?? execute(type, own, { ...counted, admitted: 'counted' });
  };
}

type Lookup = ResourcePorts & { readonly context: WriteContext };
/**
 * A found object. `counted` is the context for the next write, which is not counted again if the look-up was counted.
 */
type Found = {
  readonly stored: StoredObject;
  readonly counted: WriteContext;
};

async function lookedUp(
  type: ResourceType,
  name: string,
  lookup: Lookup,
): Promise<Found | { readonly refused: WriteOutcome }> {
  const { reader, execute, context } = lookup;
  const stored = reader.get(type.key, name);
  if (stored !== undefined) return { stored, counted: context };
  // The object may have just been created on another node. After this call, this node has folded the object if it
  // exists.
  const confirmed = await confirmExists(execute, { type, name }, context);
  const news = reader.get(type.key, name);
  if (news !== undefined) return { stored: news, counted: { ...context, admitted: 'counted' } };
  return {
    refused: confirmed.ok ? { ok: false, rejection: { reason: 'not-found', detail: notFound(type, name) } } : confirmed,
  };
}

/** Members that the owner of the object may not set. */
const administered = ['finalizers', 'ownerReferences'] as const;

type Change = {
  readonly stored: StoredObject;
  readonly execute: Execute;
  readonly context: WriteContext;
};

/** Returns a refusal if a dry run fails, or if its result contains a change that the owner may not make. */
async function changeRefused(
  type: ResourceType,
  command: Command,
  { stored, execute, context }: Change,
): Promise<WriteOutcome | undefined> {
  const tried = await execute(type, command, { ...context, dryRun: true });
  return tried.ok
    ? refusedAs(type, tried.name, {
        after: storedObject(tried.bytes).metadata,
        before: storedObject(stored.bytes).metadata,
      })
    : tried;
}

type Metadata = Readonly<Record<string, unknown>>;

type Metadatas = {
  readonly after: Metadata;
  readonly before: Metadata;
};

function refusedAs(type: ResourceType, name: string, { after, before }: Metadatas): WriteOutcome | undefined {
  const changed = (member: string): boolean => !deepEqual(listed(after[member]), listed(before[member]));
  const violations = [
    ...administered
      .filter(changed)
      .map((member) => violationOf(member, 'cannot be set by the user: omit the member or leave it unchanged')),
    ...described
      .filter((member) => changed(member) && bytesOf(after[member]) > ownTextBytesMax)
      .map((member) => violationOf(member, tooLong)),
  ];
  return violations.length === 0 ? undefined : invalid(type, name, violations);
}

/** The members of the metadata that the owner may set within a size limit. */
const described = ['labels', 'annotations'] as const;

const tooLong = `must have at most ${String(ownTextBytesMax)} bytes of keys and values`;

function violationOf(member: string, detail: string): Violation {
  return { pointer: `/metadata/${member}`, detail };
}

/** Returns the number of bytes of keys and values. Another check refuses values that are not strings. */
function bytesOf(texts: unknown): number {
  if (!isObject(texts)) return 0;
  const bytes = ([key, value]: readonly [string, unknown]): number =>
    Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
  return Object.entries(texts).reduce((sum, entry) => sum + bytes(entry), 0);
}

function nameIn(metadata: unknown): string {
  return isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
}

/** Null, absence and an empty list have the same meaning. */
function listed(value: unknown): unknown {
  return value ?? [];
}

/**
 * Requires the uid of the checked object, because another object may have the same name when the command is decided.
 */
function pinned<C extends Exclude<Command, { readonly type: 'create' | 'find' | 'collect' | 'fence' }>>(
  command: C,
  uid: string,
): C {
  return { ...command, preconditions: { uid, ...command.preconditions } };
}

type Identity = {
  readonly uid: string;
  readonly owner: unknown;
};

function identityOf({ bytes }: StoredObject, member: Owned['member']): Identity {
  const {
    metadata: { uid },
    spec,
  } = storedObject(bytes);
  return { uid, owner: isObject(spec) ? spec[member] : undefined };
}
