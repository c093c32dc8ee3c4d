import type { ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { WriteContext } from './command.ts';
import type { Completed, Kept, Strategy } from './strategy.ts';
import type { Subject } from './subject.ts';

/** Everything a decision depends on beside state and command: decide reads no clock, draws nothing and does no I/O. */
export type Facts = {
  readonly type: ResourceType;
  /** Indexes that were unique once: events say of them, too, which values are held. */
  readonly onceUnique?: ReadonlySet<string> | undefined;
  /** RFC 3339, UTC, milliseconds. */
  readonly now: string;
  /** The uid a create gives. */
  readonly uid: string;
  /** The five characters a `generateName` is completed with. */
  readonly suffix: string;
  readonly domain: string;
  readonly origin: WriteContext['origin'];
  readonly fieldValidation: WriteContext['fieldValidation'];
  readonly subject: Subject;
  /** What a type of the platform's asks beside its schema. */
  readonly strategy?: Strategy | undefined;
  /** What was withheld from this very write and is kept by now. */
  readonly kept?: Kept | undefined;
};

/** As it is stored: what the type's strategy makes of it, where it has one. */
export function complete(after: ResourceObject, before: ResourceObject | undefined, { strategy, subject, domain, now, kept }: Facts): Completed {
  return strategy === undefined ? { ok: true, object: after } : strategy.complete({ before, after, subject, domain, now, kept });
}
