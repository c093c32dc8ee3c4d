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
 * The failure of a plugin, with the fingerprint of the files and the object that caused it. The start is retried when
 * the fingerprint changes.
 */
export type OwnFailure = { readonly failure: Failure; readonly fingerprint: string };

/** The location of a plugin's files: its folder, or the package that its object names. */
export type PluginFiles = { readonly folder: PluginFolder; readonly digest: string };

/** `refused`: another folder has the name. `digest`: undefined if the folder contains no plugin. */
type Placement = {
  readonly folder: PluginFolder;
  readonly digest: string | undefined;
  readonly refused: Failure | undefined;
};

/** The plugin's object as last observed. `seen` changes whenever the desired state may have changed. */
type Observed = {
  readonly seen: string;
  readonly uid: JsonValue | undefined;
  readonly generation: JsonValue | undefined;
};

/**
 * One plugin on this node: its state, and what the host has observed of its files and its object. Only `change` and
 * `desire` change the state; the host's steps call them, one step at a time.
 */
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

  /** The only assignment of the state. */
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

  /** The registered code. */
  get incarnation(): Incarnation | undefined {
    return codeOf(this.#state)?.incarnation;
  }

  /** This node, as the leader, has applied the objects of the registered code. */
  get isApplied(): boolean {
    return codeOf(this.#state)?.isApplied === true;
  }

  /** Whether the plugin must stop, and waits for its dependents to stop. */
  get isLeaving(): boolean {
    return this.#state.phase === 'started' && this.#state.isLeaving;
  }

  /** The progress of the index build, in percent. */
  get progress(): number | undefined {
    return this.#state.phase === 'not-started' ? this.#state.progress : undefined;
  }

  /** Whether the plugin's code, or its code that is being removed, depends on that plugin. */
  runsOn(name: string): boolean {
    return runsOn(this.#state).has(name);
  }

  /** Records the desired state. If a plugin should run again, it no longer leaves. */
  desire(desired: DesiredState): void {
    this.#desired = desired;
    this.change({ type: 'leave', isLeaving: false });
  }

  /** Whether the plugin waits for a dependency. */
  get isWaiting(): boolean {
    return this.#desired?.kind === 'wait';
  }

  /** Whether the plugin should run, now or later: its stopped registrations come back. */
  get isReturning(): boolean {
    return this.#desired?.kind === 'run' || this.isWaiting;
  }

  /** The reported reason why the plugin does not run. */
  get failure(): Failure | undefined {
    return this.#state.phase === 'uninstalling' ? this.#state.problem : this.#desired?.failure;
  }

  /** Records the folder of its files; undefined: it is in no plugin folder. */
  place(placement: Placement | undefined): void {
    this.#placement = placement;
  }

  /** The plugin's folder; undefined for a plugin with only an object. */
  get folder(): PluginFolder | undefined {
    return this.#placement?.folder;
  }

  /** The files in the plugin's folder; undefined if they do not exist. */
  get folderFiles(): PluginFiles | undefined {
    const { folder, digest } = this.#placement ?? {};
    return folder === undefined || digest === undefined ? undefined : { folder, digest };
  }

  /** Set when another folder has its name. */
  get refused(): Failure | undefined {
    return this.#placement?.refused;
  }

  useFiles(files: PluginFiles | undefined): void {
    this.#files = files;
  }

  get files(): PluginFiles | undefined {
    return this.#files;
  }

  /** `digest`: that of the files from which the manifest was read. */
  useManifest(manifest: Manifest, digest: string): void {
    this.#manifest = { manifest, digest };
  }

  /** The last readable manifest; it belongs to other files if `hasPresentManifest` is false. */
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
   * The uid of the plugin's object, if it ever had one. A missing object, or another uid, means that the object was
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

  /** The failure that the plugin itself causes; kept until its files or its object change. */
  get ownFailure(): OwnFailure | undefined {
    return this.#ownFailure;
  }

  recordKept(kept: KeptChanges): void {
    this.#kept = kept;
  }

  /** Values of its objects that users have changed. */
  get kept(): KeptChanges {
    return this.#kept;
  }

  /** The files for which this node, as the leader, last updated its object; undefined for a new leader. */
  recordEnsured(digest: string | undefined): void {
    this.#ensuredDigest = digest;
  }

  get ensuredDigest(): string | undefined {
    return this.#ensuredDigest;
  }

  /** The groups of its paths at its last load; empty before the first. */
  get groups(): ReadonlySet<string> {
    return this.#groups;
  }

  /** Whether the plugin runs the present files. */
  get isCurrent(): boolean {
    return this.incarnation !== undefined && this.incarnation.is.digest === this.#files?.digest;
  }

  /** The version of the running code; without it, the version of the manifest. */
  get version(): string | undefined {
    return (this.incarnation?.is.manifest ?? this.manifest)?.version;
  }

  /** Ends the plugin's steps when the host stops. */
  end(): void {
    this.reconciliation.stop();
    this.module.wake();
  }
}
