import type { ObjectMetadata } from 'ledgerplane/client';

/** The members of a User that its owner may change. */
export const ownMembers = ['displayName', 'email', 'phone', 'bio'] as const;
export type OwnMember = (typeof ownMembers)[number];

export type OwnUser = {
  readonly metadata: ObjectMetadata;
  readonly spec: Readonly<Partial<Record<OwnMember, string>>> & Readonly<Record<string, unknown>>;
};

/** A personal access token. Only the response to its creation contains the text of the token. */
export type AccessToken = {
  readonly metadata: ObjectMetadata;
  readonly spec: {
    readonly description?: string;
    readonly roles?: readonly string[];
    readonly expiresAt?: string;
    readonly revoked?: boolean;
  };
  readonly status?: { readonly token?: string; readonly lastUsedAt?: string };
};

/** Returns the path of the user's own account, or of a part of it. */
export function ownPath(domain: string, part = ''): string {
  return `/apis/uc.api.${domain}/v1alpha1/users/-${part}`;
}

export function tokensPath(domain: string, name?: string): string {
  const path = `/apis/uc.api.${domain}/v1alpha1/personalaccesstokens`;
  return name === undefined ? path : `${path}/${encodeURIComponent(name)}`;
}
