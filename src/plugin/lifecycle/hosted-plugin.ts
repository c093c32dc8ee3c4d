import type { Timer } from '../../base/clock.ts';
import type { KeptChanges } from '../objects/applied-objects.ts';
import type { Incarnation } from './incarnation.ts';
import type { LifeState } from './life.ts';
import type { Loading } from '../load/loading.ts';
import type { JsonValue } from '../../resource/object/object.ts';
import type { Manifest } from '../load/manifest.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';
import type { Failure } from './plugin-status.ts';

/** Why it failed, and of which files and object: with others it is tried again. */
export type OwnFailure = { readonly failure: Failure; readonly fingerprint: string };

/** One plugin on this node: what is known of it, and what of it runs. The host's steps change it, one at a time. */
export class HostedPlugin {
  readonly name: string;
  /** In a folder of plugins; undefined for one that is known by its object alone. */
  folder: PluginFolder | undefined;
  state: LifeState = 'discovered';
  /** Another folder has its name. */
  refused: Failure | undefined;
  /** Of the files in its folder; undefined: they are not there. */
  folderDigest: string | undefined;
  /** Where its files are now: its folder, or the package its object names. */
  files: { readonly folder: PluginFolder; readonly digest: string } | undefined;
  /** As last read, and from which files. */
  manifest: Manifest | undefined;
  manifestDigest: string | undefined;
  /** Its module while it runs, until it is taken or dropped. */
  loading: Loading | undefined;
  /** Present while a step waits for its module: has it look at what is wanted now. */
  wake: (() => void) | undefined;
  /** No step follows the one in progress. */
  isOver = false;
  /** What is loaded; present only in states that hold something. */
  incarnation: Incarnation | undefined;
  /** Plugins that what is loaded runs on, until all of it is taken back. Its manifest may name others by then. */
  runsOn: ReadonlySet<string> = new Set();
  /** The groups that its paths were in when it was last loaded; before that they are not known. */
  groups: ReadonlySet<string> = new Set();
  /** Why it cannot run, found by itself; kept until its files or its object change. */
  own: OwnFailure | undefined;
  /** Why it does not run, as it is told. */
  failure: Failure | undefined;
  kept: KeptChanges = new Map();
  /** Of its object, once that was there: gone later, or another, it was deleted. */
  uid: JsonValue | undefined;
  /** Which files its object was last brought up to date with, and whether its objects are applied; by this node, leading. */
  ensuredDigest: string | undefined;
  isApplied = false;
  /** It is to stop, and waits for those that run on it. */
  isLeaving = false;
  /** It waits for another plugin. */
  isWaiting = false;
  /** What stops of it is to come back. */
  isReturning = false;
  /** How often its module failed: each try is another address, as the runtime remembers a module that failed. */
  failedLoads = 0;
  progress: number | undefined;
  retry: Timer | undefined;
  /** A step is to be taken; `running` while one is. */
  isDirty = false;
  running: Promise<void> | undefined;
  /** What its object wanted when it was last looked at, and how this plugin stood when the others were last told. */
  seen: string | undefined;
  generation: JsonValue | undefined;
  told: string | undefined;
  /** Why it failed, as last logged. */
  logged: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** The host stops: no step of it follows. */
  end(): void {
    this.isOver = true;
    this.retry?.cancel();
    this.wake?.();
  }

  get wasThere(): boolean {
    return this.uid !== undefined;
  }

  /** It runs what lies there now. */
  get isCurrent(): boolean {
    return this.incarnation !== undefined && this.incarnation.is.digest === this.files?.digest;
  }

  /** Of the version that runs; before one does, of what would. */
  get version(): string | undefined {
    return (this.incarnation?.is.manifest ?? this.manifest)?.version;
  }
}
