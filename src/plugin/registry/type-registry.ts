import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

/**
 * A registered type. While `serving` is false, the paths of the type return 503, because its plugin is starting. After
 * the registration is removed, the paths return 404.
 */
export type Registration = {
  readonly type: ResourceType;
  readonly serving: boolean;
};

export type Registered = { readonly ok: true } | { readonly ok: false; readonly owner: string };

/** The registered types of this node, by path and by key. A type is served only after its indexes are built. */
export class TypeRegistry {
  /** The registrations in `#byKey`, once for each served version, by `<group>/<version>/<plural>`. */
  readonly #byPath = new Map<string, Registration>();
  readonly #byKey = new Map<TypeKey, Registration>();
  /** The plugins that are being reloaded, by API group. */
  readonly #reloading = new Map<string, string>();
  /** The plugins with types that are not known yet. */
  readonly #expected = new Set<string>();
  readonly #listeners = new Set<(registration: Registration, change: 'registered' | 'serving' | 'removed') => void>();
  /** The plugins that were reloaded since the start of the process. */
  readonly #reloaded = new Set<string>();
  readonly #reloadListeners = new Set<() => void>();

  register(type: ResourceType): Registered {
    const present = this.#byKey.get(type.key);
    if (present !== undefined) return { ok: false, owner: present.type.plugin };
    const sameKind = this.byKind(type.group, type.kind);
    if (sameKind !== undefined) return { ok: false, owner: sameKind.type.plugin };
    this.#set({ type, serving: false }, 'registered');
    return { ok: true };
  }

  /** Serves the paths of a type. The indexes of the type must be built. */
  serve(key: TypeKey): void {
    const present = this.#byKey.get(key);
    if (present !== undefined) this.#set({ type: present.type, serving: true }, 'serving');
  }

  remove(key: TypeKey): void {
    const present = this.#byKey.get(key);
    if (present === undefined) return;
    this.#byKey.delete(key);
    for (const { group, version, plural } of versionsOf(present.type))
      this.#byPath.delete(pathKey(group, version, plural));
    this.#notify(present, 'removed');
  }

  /**
   * Until `clearReloading`, requests for these API groups return 503 instead of 404, because types may be added soon.
   */
  markReloading(plugin: string, groups: Iterable<string>): void {
    for (const group of groups) this.#reloading.set(group, plugin);
    this.#reloaded.add(plugin);
    this.#notifyReloads();
  }

  /** Ends the effect of `markReloading`. Call `clearReloading` when the reload is complete or cancelled. */
  clearReloading(plugin: string): void {
    let isCleared = false;
    for (const [group, returning] of this.#reloading)
      if (returning === plugin) isCleared = this.#reloading.delete(group) || isCleared;
    if (isCleared) this.#notifyReloads();
  }

  /** Returns the plugin that is being reloaded and has this API group. */
  reloadingPlugin(group: string): string | undefined {
    return this.#reloading.get(group);
  }

  /** Returns whether the plugin's files were loaded again since the start of the process, or are now. */
  wasReloaded(plugin: string): boolean {
    return this.#reloaded.has(plugin);
  }

  /** Records, until `markKnown`, that an unknown type may belong to this plugin. */
  expectPlugin(plugin: string): void {
    this.#expected.add(plugin);
  }

  markKnown(plugin: string): void {
    this.#expected.delete(plugin);
  }

  expected(): ReadonlySet<string> {
    return this.#expected;
  }

  /** Returns the type in the version of the path. */
  byPath(group: string, version: string, plural: string): Registration | undefined {
    return this.#byPath.get(pathKey(group, version, plural));
  }

  byKey(key: TypeKey): Registration | undefined {
    return this.#byKey.get(key);
  }

  /** Returns the type, in the preferred version; undefined while it is not served. */
  servedByKey(key: TypeKey): ResourceType | undefined {
    const registration = this.#byKey.get(key);
    return registration?.serving === true ? registration.type : undefined;
  }

  /** Returns the type of a kind, in the preferred version. A kind is unique within its group. */
  byKind(group: string, kind: string): Registration | undefined {
    return this.all().find(({ type }) => type.group === group && type.kind === kind);
  }

  /** Returns all types, each in its preferred version. */
  all(): readonly Registration[] {
    return [...this.#byKey.values()];
  }

  /** Returns all types, each in all its served versions. */
  versions(): readonly Registration[] {
    return this.all().flatMap(({ type, serving }) => versionsOf(type).map((each) => ({ type: each, serving })));
  }

  subscribe(listener: (registration: Registration, change: 'registered' | 'serving' | 'removed') => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Calls `listener` after `markReloading`, and after `clearReloading` ends a reload. */
  onReload(listener: () => void): void {
    this.#reloadListeners.add(listener);
  }

  #notifyReloads(): void {
    for (const listener of this.#reloadListeners) listener();
  }

  #set(registration: Registration, change: 'registered' | 'serving'): void {
    const { type } = registration;
    this.#byKey.set(type.key, registration);
    for (const each of versionsOf(type))
      this.#byPath.set(pathKey(each.group, each.version, each.plural), { ...registration, type: each });
    this.#notify(registration, change);
  }

  #notify(registration: Registration, change: 'registered' | 'serving' | 'removed'): void {
    for (const listener of this.#listeners) listener(registration, change);
  }
}

function versionsOf(type: ResourceType): readonly ResourceType[] {
  return type.versions?.served ?? [type];
}

function pathKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
