/** Who asks. A visitor showed no credentials; wrong ones are refused and never become a subject. */
export type Subject =
  | { readonly kind: 'visitor' }
  | {
    readonly kind: 'user';
    readonly name: string;
    readonly groups?: readonly string[];
    readonly superAdministrator: boolean;
  };

export const visitor: Subject = { kind: 'visitor' };

/** The name an event's metadata and a plugin's handler see. No user can be called so: names hold no colon. */
export function actorOf(subject: Subject): string {
  return subject.kind === 'user' ? subject.name : 'system:anonymous';
}
