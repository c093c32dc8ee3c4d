import type { JsonValue } from '../../resource/object/object.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';
import type { Manifest } from '../load/manifest.ts';
import type { KeptChanges } from '../objects/applied-objects.ts';
import type { Incarnation } from './incarnation.ts';
import type { LifeState } from './life.ts';
import { PluginModule } from './plugin-module.ts';
import { codeOf, nextState, runsOn, type DesiredState, type PluginChange, type PluginState } from './plugin-state.ts';
import type { Failure } from './status/plugin-status.ts';
import { Reconciliation } from './reconciliation.ts';

/**
 * A failure of a plugin, with the fingerprint of the files and the object that caused the failure. The start is retried
 * when the fingerprint changes.
 */
export type OwnFailure = {
  readonly failure: Failure;
  readonly fingerprint: string;
};

/** The location of a plugin's files: the plugin folder or, for an installed package, the folder of the package. */
export type PluginFiles = {
  readonly folder: PluginFolder;
  readonly digest: string;
};

/**
 * The plugin folder. `digest` is undefined if the folder contains no plugin. `refused` is set if another folder has the
 * name that this folder declares.
 */
type Placement = {
  readonly folder: PluginFolder;
  readonly digest: string | undefined;
  readonly refused: Failure | undefined;
};

/** The last observed state of the plugin's object. `seen` changes whenever the desired state may have changed. */
type Observed = {
  readonly seen: string;
  readonly uid: JsonValue | undefined;
  readonly generation: JsonValue | undefined;
};

/** One plugin on this node: its state, and the last observed state of its files and its object. */
export class HostedPlugin {
  readonly name: string;
  readonly module = new PluginModule();
  readonly reconciliation = new Reconciliation();
  #state: PluginState = { phase: 'discovered' };
  #desired: DesiredState | undefined;
  #placement: Placement | undefined;
  #files: PluginFiles | undefined;
  #manifest: { readonly manifest: Manifest; readonly digest: string } | undefined;
  #observed: Observed | undefined;
  #uid: JsonValue | undefined;
  #groups: ReadonlySet<string> = new Set();
  #ownFailure: OwnFailure | undefined;
  #kept: KeptChanges = new Map();
  #ensuredDigest: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Changes the state. No other method assigns the state. */
  change(change: PluginChange): void {
    this.#state = nextState(this.#state, change);
    if (change.type === 'loaded') this.#groups = change.incarnation.groups();
  }

  get state(): PluginState {
    return this.#state;
  }

  get phase(): LifeState {
    return this.#state.phase;
  }

  get incarnation(): Incarnation | undefined {
    return codeOf(this.#state)?.incarnation;
  }

  /** Whether this node, as the leader, has applied the objects that the registered code ships. */
  get isApplied(): boolean {
    return codeOf(this.#state)?.isApplied === true;
  }

  /** Whether the plugin must stop, and waits until its dependents have stopped. */
  get isLeaving(): boolean {
    return this.#state.phase === 'started' && this.#state.isLeaving;
  }

  /** The progress of the index build, in percent. */
  get progress(): number | undefined {
    return this.#state.phase === 'not-started' ? this.#state.progress : undefined;
  }

  /** Returns whether the registered code, or the code that is being removed, depends on the plugin `name`. */
  runsOn(name: string): boolean {
    return runsOn(this.#state).has(name);
  }

  /** Records the desired state. A wait for dependents to stop ends, because the plugin may now have to run again. */
  desire(desired: DesiredState): void {
    this.#desired = desired;
    this.change({ type: 'leave', isLeaving: false });
  }

  get isWaiting(): boolean {
    return this.#desired?.kind === 'wait';
  }

  /** Whether the plugin should run now or later, so that removed registrations will return. */
  get isReturning(): boolean {
    return this.#desired?.kind === 'run' || this.isWaiting;
  }

  /** The reported reason why the plugin does not run. */
  get failure(): Failure | undefined {
    return this.#state.phase === 'uninstalling' ? this.#state.problem : this.#desired?.failure;
  }

  /** Records the plugin folder; undefined if no plugin folder contains the plugin. */
  place(placement: Placement | undefined): void {
    this.#placement = placement;
  }

  /** The plugin's folder; undefined for a plugin that has only an object. */
  get folder(): PluginFolder | undefined {
    return this.#placement?.folder;
  }

  /** The files in the plugin's folder; undefined if the files do not exist. */
  get folderFiles(): PluginFiles | undefined {
    const { folder, digest } = this.#placement ?? {};
    return folder === undefined || digest === undefined ? undefined : { folder, digest };
  }

  /** Set if another folder has the name that this folder declares. */
  get refused(): Failure | undefined {
    return this.#placement?.refused;
  }

  useFiles(files: PluginFiles | undefined): void {
    this.#files = files;
  }

  get files(): PluginFiles | undefined {
    return this.#files;
  }

  /** Records the manifest. `digest` is the digest of the files that contain the manifest. */
  useManifest(manifest: Manifest, digest: string): void {
    this.#manifest = { manifest, digest };
  }

  /** The last readable manifest. If `hasPresentManifest` is false, the manifest is from earlier files. */
  get manifest(): Manifest | undefined {
    return this.#manifest?.manifest;
  }

  get hasPresentManifest(): boolean {
    return this.#manifest?.digest === this.#files?.digest;
  }

  observe(observed: Observed): void {
    this.#observed = observed;
    this.#uid ??= observed.uid;
  }

  /**
   * The uid of the first observed object of the plugin. A later object with another uid means that the first object was
   * deleted.
   */
  get uid(): JsonValue | undefined {
    return this.#uid;
  }

  get hadObject(): boolean {
    return this.#uid !== undefined;
  }

  get generation(): JsonValue | undefined {
    return this.#observed?.generation;
  }

  get desiredStateSeen(): string | undefined {
    return this.#observed?.seen;
  }

  recordFailure(failure: OwnFailure | undefined): void {
    this.#ownFailure = failure;
  }

  /** The failure that the plugin's files or object cause. The failure is kept until the files or the object change. */
  get ownFailure(): OwnFailure | undefined {
    return this.#ownFailure;
  }

  recordKept(kept: KeptChanges): void {
    this.#kept = kept;
  }

  /** The values in the plugin's objects that users changed, and that the host does not overwrite. */
  get kept(): KeptChanges {
    return this.#kept;
  }

  /**
   * Records the digest of the files for which the Plugin object needs no further update by this node. A new leader
   * records undefined, so that the leader updates the object.
   */
  recordEnsured(digest: string | undefined): void {
    this.#ensuredDigest = digest;
  }

  get ensuredDigest(): string | undefined {
    return this.#ensuredDigest;
  }

  /** The API groups of the plugin's paths at the last load; empty before the first load. */
  get groups(): ReadonlySet<string> {
    return this.#groups;
  }

  /** Whether the registered code is from the present files. */
  get isCurrent(): boolean {
    return this.incarnation !== undefined && this.incarnation.is.digest === this.#files?.digest;
  }

  /** The version of the registered code. Without registered code, the version in the manifest. */
  get version(): string | undefined {
    return (this.incarnation?.is.manifest ?? this.manifest)?.version;
  }

  end(): void {
    this.reconciliation.stop();
    this.module.wake();
  }
}
