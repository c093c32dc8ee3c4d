/** The caller of a request or write. The caller's rights decide whether the request is allowed. */
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
   * ends watches and streams that use an older password.
   */
  | { readonly kind: 'password'; readonly uid: string; readonly revision?: number }
  /**
   * A personal access token. `uid` and `name` belong to the token. `roles` limits the token to these roles of the user;
   * undefined means all roles of the user.
   */
  | {
      readonly kind: 'token';
      readonly uid: string;
      readonly userUid: string;
      readonly name: string;
      readonly roles: readonly string[] | undefined;
    }
  /** A session. `uid` is the uid of the session. `userUid` is undefined for a user of the identity provider. */
  | { readonly kind: 'session'; readonly uid: string; readonly userUid: string | undefined }
  /** A token of an identity provider. `expiresAt` is in epoch milliseconds. */
  | { readonly kind: 'oidc'; readonly expiresAt: number };

/** A plugin with its own rights. The plugin may write objects of its own types and the objects in its files. */
export type PluginSubject = {
  readonly kind: 'plugin';
  readonly name: string;
};

/** A part of the platform, such as `collector`, `plugins` or `roles`. */
export type PlatformSubject = {
  readonly kind: 'platform';
  readonly part: string;
};

export const visitor: Visitor = { kind: 'visitor' };

/**
 * Returns the name of the subject for the metadata of events and for handlers of plugins. The name of a subject other
 * than a user contains a colon, and cannot equal the name of a local user.
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
