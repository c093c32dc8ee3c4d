/** Who asks: what every request and every write is judged by. Wrong credentials are refused and never become a subject. */
export type Subject = Visitor | UserSubject | PluginSubject | PlatformSubject;

export type Visitor = { readonly kind: 'visitor' };

export type UserSubject = {
  readonly kind: 'user';
  /** `metadata.name` of the User; `oidc:<claim>` for one the identity provider vouches for. */
  readonly name: string;
  readonly credential: Credential;
};

/** What the user showed. It bounds what they may do, and for how long they are who they are. */
export type Credential =
  /** HTTP Basic. `uid` is the user's, `revision` that of the password shown: another one ends what was begun with it. */
  | { readonly kind: 'password'; readonly uid: string; readonly revision?: number }
  /** A personal access token: `uid` and `name` are its own. `roles`: of the user's roles only these count; undefined is all of them. */
  | { readonly kind: 'token'; readonly uid: string; readonly userUid: string; readonly name: string; readonly roles: readonly string[] | undefined }
  /** `uid` is the session's. */
  | { readonly kind: 'session'; readonly uid: string; readonly userUid: string }
  /** An identity provider's token. `expiresAt` is epoch milliseconds. */
  | { readonly kind: 'oidc'; readonly expiresAt: number };

/** A plugin acting as itself: it may write its own types, and what lies in its folder, which an operator put there. */
export type PluginSubject = { readonly kind: 'plugin'; readonly name: string };

/** A part of the platform: `collector`, `plugins`, `roles`. */
export type PlatformSubject = { readonly kind: 'platform'; readonly part: string };

export const visitor: Visitor = { kind: 'visitor' };

/** The name an event's metadata and a plugin's handler see. No local user can be called so: names hold no colon. */
export function actorOf(subject: Subject): string {
  switch (subject.kind) {
    case 'visitor': return 'system:anonymous';
    case 'user': return subject.name;
    case 'plugin': return `plugin:${subject.name}`;
    case 'platform': return `system:${subject.part}`;
  }
}
