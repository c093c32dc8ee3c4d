import type { WriteContext } from './command.ts';
import type { Cause, CausingEvent } from './event.ts';
import { actorOf, type PlatformSubject } from './subject.ts';

/** The cause of a write by the platform, without the actor. */
export type PlatformCause = Omit<Cause, 'actor'>;

/** Returns the context of a write that a part of the platform makes with its own rights. */
export function platformContext(subject: PlatformSubject, cause: PlatformCause, causedBy?: CausingEvent): WriteContext {
  return {
    subject,
    cause: { actor: actorOf(subject), ...cause },
    causedBy,
    dryRun: false,
    fieldValidation: undefined,
    origin: 'platform',
  };
}
