/**
 * The caller of a request or write, by whose rights it is decided. Invalid credentials are refused and never become a
 * subject.
 */
export type Subject = Visitor | UserSubject | PluginSubject | PlatformSubject;

export type Visitor = { readonly kind: 'visitor' };

export type UserSubject = {
  readonly kind: 'user';
  /** `metadata.name` of the User; `oidc:<claim>` for a user of the identity provider. */
  readonly name: string;
  readonly credential: Credential;
};

/** The user's credential, which limits the user's rights and the time for which the subject is valid. */
export type Credential =
  /**
   * HTTP Basic. `uid` is the uid of the user, and `revision` is the revision of the verified password. A new password
   * ends the watches and streams that were opened with an older one.
   */
  | { readonly kind: 'password'; readonly uid: string; readonly revision?: number }
  /**
   * A personal access token: `uid` and `name` are its own. `roles` limits it to these roles of the user; undefined: all
   * of them.
   */
  | {
      readonly kind: 'token';
      readonly uid: string;
      readonly userUid: string;
      readonly name: string;
      readonly roles: readonly string[] | undefined;
    }
  /** `uid` is the session's. */
  | { readonly kind: 'session'; readonly uid: string; readonly userUid: string }
  /** An identity provider's token. `expiresAt` is epoch milliseconds. */
  | { readonly kind: 'oidc'; readonly expiresAt: number };

/**
 * A plugin acting as itself: it may write objects of its own types, and the objects in its folder, which an operator
 * put there.
 */
export type PluginSubject = { readonly kind: 'plugin'; readonly name: string };

/** A part of the platform: `collector`, `plugins`, `roles`. */
export type PlatformSubject = { readonly kind: 'platform'; readonly part: string };

export const visitor: Visitor = { kind: 'visitor' };

/**
 * The name in an event's metadata and in a plugin's handlers. It cannot equal a local user's name, which contains no
 * colon.
 */
export function actorOf(subject: Subject): string {
  switch (subject.kind) {
    case 'visitor':
      return 'system:anonymous';
    case 'user':
      return subject.name;
    case 'plugin':
      return `plugin:${subject.name}`;
    case 'platform':
      return `system:${subject.part}`;
  }
}
