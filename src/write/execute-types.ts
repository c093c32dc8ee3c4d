import type { HookWatch } from '../command/facts.ts';
import type { WriteContext } from '../command/command.ts';
import type { EventMetadata } from '../command/event.ts';
import type { Kept } from '../command/strategy.ts';
import type { EventLog } from '../log/log.ts';
import type { DeclarationReader } from '../read/declarations.ts';
import type { ObjectReader } from '../read/objects.ts';
import type { ReferenceReader } from '../read/references/reference-reader.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { SecretKeeper, WriteRules } from './rules.ts';
import type { Admitted } from './admission/admission.ts';
import type { DecidedBy } from './declared.ts';
import type { HeldGuard } from './guard.ts';
import type { HeldIntent } from './references/held-intent.ts';
import type { HeldBytes } from './admission/held-bytes.ts';
import type { EventStampsDependencies } from './event-stamps.ts';
import type { WriterDisk } from './admission/disk-admission.ts';
import type { Unsettled } from './unsettled.ts';
import type { UpgradeWaits } from './admission/upgrade-waits.ts';
import type { Writers } from './admission/writers.ts';

export type WriteDoorDependencies = EventStampsDependencies & {
  readonly log: EventLog;
  readonly reader: ObjectReader;
  /** The declarations in the log. If undefined, writes are decided by this node's declarations. */
  readonly declarations?: DeclarationReader;
  /** The folded references. If undefined, references are not checked. */
  readonly references?: ReferenceReader;
  /** Returns a registered type; undefined for an unknown key. */
  readonly typeOf?: (key: TypeKey) => ResourceType | undefined;
  /**
   * Returns a served type; undefined while its plugin is being reloaded. If the function is undefined, a write is
   * decided by the type that it was called with, even after a reload of the plugin.
   */
  readonly servedType?: (key: TypeKey) => ResourceType | undefined;
  readonly domain: string;
  readonly uuid: () => string;
  /** The random suffix of generated names: five characters of `[a-z0-9]`. */
  readonly suffix: () => string;
  /** The rules for the platform's own types. */
  readonly rules: WriteRules;
  readonly secrets: SecretKeeper;
  /** The state of the disk. If undefined, the free space is not monitored. */
  readonly disk?: WriterDisk;
  /** The rate limits of the writers. If undefined, writers have no rate limits. */
  readonly writers?: Writers;
  /** Records pending appends. If undefined, pending appends are not recorded. */
  readonly unsettled?: Unsettled;
  /** The size limit of one append; by default, the limit of all logs. */
  readonly appendBytesMax?: number;
  /** Observes the calls of hooks. If undefined, calls are not observed. */
  readonly hookWatch?: HookWatch;
  /** Lets writes wait during upgrades of plugins. If undefined, such writes are refused at once. */
  readonly upgradeWaits?: UpgradeWaits;
  /** Counts the memory of requests and writes in flight. */
  readonly held?: HeldBytes;
};

/** The values that all attempts of one command share. */
export type Given = {
  readonly uid: string;
  /** The suffix of a generated name, replaced after a collision. */
  suffix: string;
  readonly context: WriteContext;
  /** The type in the version of the request; undefined for the preferred version. */
  asked: ResourceType | undefined;
  readonly admitted: Admitted;
  /** The stored secret of this write; undefined until the secret is stored. */
  kept?: Kept;
  /** Whether this node has folded the grants that were in the log when the write began. */
  hasLastGrants?: boolean;
  /** The guard of the write; undefined if no guard was taken. */
  guard?: HeldGuard;
  /** The announced intent of a write that could break strict references; undefined if no intent was announced. */
  intent?: HeldIntent;
};

/** The values of one attempt. `by` is the declaration by which the write was decided. */
export type Writing = { readonly given: Given; readonly metadata: EventMetadata; readonly by: DecidedBy };
