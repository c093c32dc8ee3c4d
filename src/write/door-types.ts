import type { WriteContext } from '../command/command.ts';
import type { EventMetadata } from '../command/event.ts';
import type { Kept } from '../command/strategy.ts';
import type { EventLog } from '../log/log.ts';
import type { DeclarationReader } from '../read/declarations.ts';
import type { ObjectReader } from '../read/objects.ts';
import type { SecretKeeper, WriteRules } from './rules.ts';
import type { Admitted } from './admission/admission.ts';
import type { DecidedBy } from './declared.ts';
import type { HeldGuard } from './guard.ts';
import type { HeldBytes } from './admission/held-bytes.ts';
import type { StampsDependencies } from './stamps.ts';
import type { WriterDisk } from './storage.ts';
import type { Unsettled } from './unsettled.ts';
import type { Writers } from './admission/writers.ts';

export type WriteDoorDependencies = StampsDependencies & {
  readonly log: EventLog;
  readonly reader: ObjectReader;
  /** Undefined: nothing is known of earlier declarations. */
  readonly declarations?: DeclarationReader;
  readonly domain: string;
  readonly uuid: () => string;
  /** Five characters of `[a-z0-9]` for generated names. */
  readonly suffix: () => string;
  /** Of the platform's own types. */
  readonly rules: WriteRules;
  readonly secrets: SecretKeeper;
  /** Undefined: nothing watches how much is free. */
  readonly disk?: WriterDisk;
  /** Who is limited, and how; without it everybody writes as the platform does. */
  readonly writers?: Writers;
  /** Appends under way; without it nobody asks which are. */
  readonly unsettled?: Unsettled;
  /** Of one append; undefined: what every log takes. */
  readonly appendBytesMax?: number;
  /** The memory that writes share with requests. */
  readonly held?: HeldBytes;
};

/** What every try at one command has in common. */
export type Given = {
  readonly uid: string;
  /** The characters a drawn name ends in; another draw after a collision. */
  suffix: string;
  readonly context: WriteContext;
  readonly admitted: Admitted;
  /** What was withheld from this write, once it is kept. */
  kept?: Kept;
  /** Once the write needs one. */
  guard?: HeldGuard;
};

/** One write's own. */
export type Writing = { readonly given: Given; readonly metadata: EventMetadata; readonly by: DecidedBy };

