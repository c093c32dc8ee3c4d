import type { Timer } from '../../base/clock.ts';
import type { KeptChanges } from '../objects/applied-objects.ts';
import type { Incarnation } from './incarnation.ts';
import type { LifeState } from './life.ts';
import type { Loading } from '../load/loading.ts';
import type { JsonValue } from '../../resource/object/object.ts';
import type { Manifest } from '../load/manifest.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';
import type { Failure } from './plugin-status.ts';

/** Why it failed, and for which files and object: when these change, it is tried again. */
export type OwnFailure = { readonly failure: Failure; readonly fingerprint: string };

/** The state of one plugin on this node. The host's steps change it, one at a time. */
export class HostedPlugin {
  readonly name: string;
  /** Its folder; undefined for a plugin with only an object. */
  folder: PluginFolder | undefined;
  state: LifeState = 'discovered';
  /** Set when another folder has its name. */
  refused: Failure | undefined;
  /** The digest of the files in its folder; undefined when they do not exist. */
  folderDigest: string | undefined;
  /** The location of its files: its folder, or the package that its object names. */
  files: { readonly folder: PluginFolder; readonly digest: string } | undefined;
  /** The last read manifest, and the digest of its files. */
  manifest: Manifest | undefined;
  manifestDigest: string | undefined;
  /** Its module while it loads, until a step takes or drops it. */
  loading: Loading | undefined;
  /** Set while a step waits for the module; makes the step check the desired state again. */
  wake: (() => void) | undefined;
  /** No step follows the present one. */
  isOver = false;
  /** The loaded code; present only in states that have registrations. */
  incarnation: Incarnation | undefined;
  /** The dependencies of the loaded code, until its release is complete. The manifest may list others by then. */
  runsOn: ReadonlySet<string> = new Set();
  /** The groups of its paths at its last load; empty before the first. */
  groups: ReadonlySet<string> = new Set();
  /** Why it cannot run by its own fault; kept until its files or its object change. */
  own: OwnFailure | undefined;
  /** Why it does not run, as reported. */
  failure: Failure | undefined;
  kept: KeptChanges = new Map();
  /** The uid of its object, once there was one; a missing object, or another uid, means that it was deleted. */
  uid: JsonValue | undefined;
  /**
   * The files for which its object was last updated, and whether its objects are applied; set by this node as the
   * leader.
   */
  ensuredDigest: string | undefined;
  isApplied = false;
  /** It is to stop, and waits for its dependents to stop. */
  isLeaving = false;
  /** It waits for a dependency. */
  isWaiting = false;
  /** The stopped registrations will come back. */
  isReturning = false;
  /** The number of failed loads. Each retry uses a new URL, because the runtime caches failed modules. */
  failedLoads = 0;
  progress: number | undefined;
  retry: Timer | undefined;
  /** A step is needed; `running` while one is in progress. */
  isDirty = false;
  running: Promise<void> | undefined;
  /** The desired state at the last check, and this plugin's state when other plugins were last notified. */
  seen: string | undefined;
  generation: JsonValue | undefined;
  told: string | undefined;
  /** The failure that was last logged. */
  logged: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** The host stops: no further step runs. */
  end(): void {
    this.isOver = true;
    this.retry?.cancel();
    this.wake?.();
  }

  get wasThere(): boolean {
    return this.uid !== undefined;
  }

  /** It runs the present files. */
  get isCurrent(): boolean {
    return this.incarnation !== undefined && this.incarnation.is.digest === this.files?.digest;
  }

  /** The version of the running code; without it, the version of the manifest. */
  get version(): string | undefined {
    return (this.incarnation?.is.manifest ?? this.manifest)?.version;
  }
}
