import { allFinalizersRemoval } from '../../resource/object/finalizers.ts';
import { isObject } from '../../base/guards.ts';
import { must } from '../../base/unreachable.ts';
import type { Command, WriteOutcome } from '../../command/command.ts';
import { platformContext } from '../../command/platform-context.ts';
import type { PlatformSubject } from '../../command/subject.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { compileType, typeKeyOf } from '../../resource/type/type-declaration.ts';
import {
  appliedState,
  applyObject,
  parseObject,
  rejectionText,
  type Applied,
  type ApplyDependencies,
} from './apply-object.ts';
import type { Loaded } from '../lifecycle/incarnation.ts';
import { eraseBatchObjects } from '../lifecycle/life-limits.ts';
import { refKey, withTypes, type ObjectRef, type PluginMemory, type TypeNames } from '../lifecycle/plugin-memory.ts';
import type { PluginObjects } from './plugin-objects.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';
import type { ShippedObject } from './shipped-objects.ts';
import { referencedFirst } from './shipped-references.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

type NamePage = {
  readonly after: string | undefined;
  readonly limit: number;
};

export type AppliedObjectsDependencies = ApplyDependencies & {
  readonly registry: TypeRegistry;
  readonly objects: PluginObjects;
  /**
   * Returns up to `limit` names of a type's objects, in order, beginning after the name `after`. The type does not need
   * to be registered.
   */
  readonly namesOf: (type: TypeKey, page: NamePage) => readonly string[];
};

/** By object: the pointers of the kept values of users, or the reason why the object was not removed. */
export type KeptChanges = ReadonlyMap<string, readonly string[]>;
export type ObjectsApplied =
  { readonly ok: true; readonly kept: KeptChanges } | { readonly ok: false; readonly failure: Failure };

const subject: PlatformSubject = { kind: 'platform', part: 'plugins' };

/**
 * Applies the objects in plugins' YAML files. The objects are recorded in the plugin's status before they are created.
 * From this record, a later version removes objects that it no longer declares, and an uninstall removes all objects.
 * An object that existed before the plugin shipped it is never removed. A later version keeps an undeclared object if
 * users have changed the object, and reports the condition `ChangesKept`.
 */
export class AppliedObjects {
  readonly #dependencies: AppliedObjectsDependencies;

  constructor(dependencies: AppliedObjectsDependencies) {
    this.#dependencies = dependencies;
  }

  async apply({ plugin, loaded }: Loaded): Promise<ObjectsApplied> {
    const typed = loaded.objects.map((shipped) => ({ shipped, type: this.#served(shipped) }));
    const untyped = typed
      .filter(({ type }) => type === undefined)
      .map(({ shipped }) => `${shipped.file}: there is no type ${shipped.kind} of ${shipped.apiVersion}`);
    if (untyped.length > 0) return failed(untyped.join('; '), true);
    const memory = this.#dependencies.objects.memory(plugin);
    const { createdOnce = [] } = memory;
    const ours = loaded.objects.filter((shipped) => this.#isOwned(shipped, memory));
    const types = withTypes(memory, loaded.types);
    const dropped = (memory.applied ?? []).filter((ref) => !isIn(loaded.objects, ref));
    if (!(await this.#remember(plugin, { applied: [...ours, ...dropped], createdOnce, types }, memory)))
      return failed("could not record the plugin's objects in the status of the plugin", true);
    const kept = new Map<string, readonly string[]>();
    const known = typed.map(({ shipped, type }) => ({
      ...shipped,
      type: must(type, 'objects without a type are refused'),
    }));
    for (const shipped of referencedFirst(known)) {
      // Stops if an uninstall has begun on any node. The uninstall would not remove objects that are created later.
      if (this.#dependencies.objects.desired(plugin)?.isDeleted !== false)
        return failed('the plugin is being uninstalled', true);
      const { name, kind, file, type } = shipped;
      const applied = await this.#applyOne(shipped, type, { plugin, createdOnce });
      if (!applied.ok) return failed(`${file}: ${kind} ${name}: ${applied.detail}`);
      kept.set(`${kind} ${name}`, applied.kept);
    }
    // Starter content belongs to the users, so it is not removed when a later version no longer ships it.
    const retained = dropped.filter((ref) => isIn(createdOnce, ref));
    const obsolete = dropped.filter((ref) => !isIn(createdOnce, ref));
    const left = await this.#removeObsolete(plugin, obsolete, { memory, kept });
    const once = [
      ...loaded.objects.filter(({ isCreatedOnce }) => isCreatedOnce),
      ...createdOnce.filter((ref) => !isIn(loaded.objects, ref)),
    ];
    // Records starter content only after its creation. Otherwise a crash in between would leave recorded content that
    // no later start creates.
    await this.#remember(plugin, { applied: [...ours, ...retained, ...left], createdOnce: once, types }, memory);
    return { ok: true, kept };
  }

  /** Creates or merges one object. Starter content is only created, and only if it was never created before. */
  async #applyOne(
    shipped: ShippedObject,
    type: ResourceType,
    { plugin, createdOnce }: { readonly plugin: string; readonly createdOnce: readonly ObjectRef[] },
  ): Promise<Applied> {
    const { name, object, isCreatedOnce } = shipped;
    const present: Applied = { ok: true, kept: [], isNew: false };
    if (isCreatedOnce && isIn(createdOnce, shipped)) return present;
    const applied = await applyObject(
      {
        type,
        name,
        object,
        subject: { kind: 'plugin', name: plugin },
        plugin,
        origin: 'plugin',
        isShipped: true,
        ...(isCreatedOnce ? { expects: 'absent' } : {}),
      },
      this.#dependencies,
    );
    return isCreatedOnce && !applied.ok && applied.rejection?.reason === 'already-exists' ? present : applied;
  }

  /**
   * Removes the objects that the plugin created from its files, and with `deleteData` also all objects of its types.
   * Returns a problem for each object that could not be removed. Stops when `isOver` returns true: another leader may
   * have completed the uninstall, and a new plugin of this name may have objects.
   */
  async removeAll(plugin: string, deleteData: boolean, isOver: () => boolean): Promise<readonly string[]> {
    const memory = this.#dependencies.objects.memory(plugin);
    const problems: (string | undefined)[] = [];
    for (const ref of memory.applied ?? []) {
      const type = this.#typeOf(ref, plugin, memory);
      if (type === undefined || isOver()) continue;
      const state = appliedState(type, ref.name, this.#dependencies);
      if (state === 'ours' || state === 'changed') problems.push(await this.#remove(type, ref.name, plugin));
    }
    for (const names of deleteData ? memory.types : []) {
      const type = this.#ownType(names, plugin);
      if (type !== undefined) problems.push(...(await this.#removeAllOf(type, plugin, isOver)));
    }
    return problems.filter((problem) => problem !== undefined);
  }

  /** Records the memory in the plugin's status, unless the memory has neither objects nor types. */
  async #remember(
    plugin: string,
    next: PluginMemory & { readonly applied: readonly ObjectRef[] },
    before: PluginMemory,
  ): Promise<boolean> {
    const applied = next.applied.length === 0 && before.applied === undefined ? undefined : next.applied;
    const hasNone = (next.createdOnce ?? []).length === 0;
    const createdOnce = hasNone && before.createdOnce === undefined ? undefined : next.createdOnce;
    if (applied === undefined && createdOnce === undefined && next.types.length === 0) return true;
    return this.#dependencies.objects.remember(plugin, { applied, createdOnce, types: next.types });
  }

  /**
   * Returns whether the plugin created the object, or will create an absent object. Without a list of applied objects,
   * which earlier versions of the platform did not record, the object's annotation decides.
   */
  #isOwned(shipped: ShippedObject, { applied }: PluginMemory): boolean {
    const state = appliedState(
      must(this.#served(shipped), 'objects without a type are refused'),
      shipped.name,
      this.#dependencies,
    );
    if (state === 'absent') return true;
    return state !== 'foreign' && (applied === undefined || applied.some((ref) => refKey(ref) === refKey(shipped)));
  }

  /** Removes the objects that users have not changed. Returns the remaining objects. */
  async #removeObsolete(
    plugin: string,
    obsolete: readonly ObjectRef[],
    { memory, kept }: { readonly memory: PluginMemory; readonly kept: Map<string, readonly string[]> },
  ): Promise<readonly ObjectRef[]> {
    const left: ObjectRef[] = [];
    for (const ref of obsolete) {
      const type = this.#typeOf(ref, plugin, memory);
      const state = type === undefined ? 'absent' : appliedState(type, ref.name, this.#dependencies);
      const problem = type === undefined || state !== 'ours' ? undefined : await this.#remove(type, ref.name, plugin);
      if (state !== 'changed' && problem === undefined) continue;
      left.push(ref);
      kept.set(`${ref.kind} ${ref.name}`, [
        state === 'changed'
          ? 'no longer declared; kept because users have changed it'
          : `no longer declared, but could not be removed: ${String(problem)}`,
      ]);
    }
    return left;
  }

  #served({ apiVersion, kind }: ObjectRef): ResourceType | undefined {
    return this.#dependencies.registry
      .versions()
      .find(({ type }) => type.apiVersion === apiVersion && type.kind === kind)?.type;
  }

  /** Returns the type of an object; for an unregistered type, a substitute with the recorded names. */
  #typeOf({ apiVersion, kind }: ObjectRef, plugin: string, { types }: PluginMemory): ResourceType | undefined {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const served = this.#dependencies.registry
      .all()
      .find(({ type }) => type.group === group && type.kind === kind)?.type;
    if (served !== undefined) return served;
    const names = types.find((type) => type.group === group && type.kind === kind);
    return names === undefined ? undefined : this.#ownType(names, plugin);
  }

  /** Returns the type, or a substitute if the type is not registered; undefined if another plugin has the type. */
  #ownType(names: TypeNames, plugin: string): ResourceType | undefined {
    const { registry, domain } = this.#dependencies;
    const present = registry.byKey(typeKeyOf(names.group, names.plural))?.type;
    if (present !== undefined) return present.plugin === plugin ? present : undefined;
    const compiled = compileType({ ...names, schema: {} }, { plugin, bundled: true, domain });
    return compiled.ok ? { ...compiled.type, declaration: undefined } : undefined;
  }

  async #removeAllOf(type: ResourceType, plugin: string, isOver: () => boolean): Promise<readonly string[]> {
    const problems: string[] = [];
    let after: string | undefined;
    for (;;) {
      if (isOver()) return problems;
      const names = this.#dependencies.namesOf(type.key, { after, limit: eraseBatchObjects });
      const results = await Promise.all(names.map(async (name) => this.#remove(type, name, plugin)));
      problems.push(...results.filter((problem) => problem !== undefined));
      after = names.at(-1);
      if (after === undefined) return problems;
    }
  }

  /**
   * Deletes the object, but not a newer object of the same name. For an unregistered type, no reconciler removes the
   * finalizers, so this method removes them and then the object. Returns the reason if the object cannot be deleted.
   */
  async #remove(type: ResourceType, name: string, plugin: string): Promise<string | undefined> {
    const stored = this.#dependencies.reader.get(type.key, name);
    if (stored === undefined) return undefined;
    const { uid } = metadataOf(stored.bytes);
    const preconditions = typeof uid === 'string' ? { uid } : {};
    const marked = await this.#write(type, { type: 'delete', name, preconditions }, plugin);
    if (!marked.ok) return this.#problem(type, name, marked);
    if (this.#dependencies.registry.byKey(type.key) !== undefined) return undefined;
    const { finalizers } = metadataOf(marked.bytes);
    if (finalizers !== undefined) {
      const freed = await this.#write(
        type,
        {
          type: 'patch',
          name,
          patch: { kind: 'merge', document: allFinalizersRemoval },
          part: 'main',
          preconditions,
        },
        plugin,
      );
      if (!freed.ok) return this.#problem(type, name, freed);
    }
    const removed = await this.#write(type, { type: 'collect', name, uid: String(uid) }, plugin);
    return removed.ok ? undefined : this.#problem(type, name, removed);
  }

  #problem(
    { kind }: ResourceType,
    name: string,
    { rejection }: Extract<WriteOutcome, { readonly ok: false }>,
  ): string | undefined {
    return rejection.reason === 'not-found' ? undefined : `${kind} ${name}: ${rejectionText(rejection)}`;
  }

  async #write(type: ResourceType, command: Command, plugin: string): Promise<WriteOutcome> {
    const verb = command.type === 'patch' ? 'patch' : 'delete';
    const { execute, uuid } = this.#dependencies;
    return execute(type, command, platformContext(subject, { verb, requestId: uuid(), plugin }));
  }
}

function isIn(refs: readonly ObjectRef[], wanted: ObjectRef): boolean {
  return refs.some((ref) => refKey(ref) === refKey(wanted));
}

function metadataOf(bytes: Uint8Array): { readonly finalizers?: unknown; readonly uid?: unknown } {
  const { metadata } = parseObject(bytes);
  return isObject(metadata) ? metadata : {};
}

function failed(message: string, isTransient?: true): ObjectsApplied {
  return {
    ok: false,
    failure: { reason: 'ObjectsRefused', message, ...(isTransient === undefined ? {} : { isTransient }) },
  };
}
