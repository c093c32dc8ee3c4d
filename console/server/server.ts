import { ClientError, connect, type RemoteClient } from 'ledgerplane/client';

import { after } from './browser-clock.ts';
import { ConnectionState, silenceMs } from './connection-state.ts';
import { Session, type Account } from './session.ts';

/** The server's version, and the domain of the platform's groups, labels and annotations. */
export type Platform = { readonly version: string; readonly domain: string };

/** The connection of this page to its server. All parts of the console use this one instance. */
export type Server = {
  readonly client: RemoteClient;
  readonly session: Session;
  readonly connection: ConnectionState;
  /** The platform. Reading it before the first `identify` throws. */
  readonly platform: Platform;
  /** Requests the platform and the user of this page. Rejects if the server cannot be reached. */
  readonly identify: () => Promise<void>;
  readonly logIn: (username: string, password: string) => Promise<void>;
  readonly logOut: () => Promise<void>;
};

type LogInAnswer = { readonly username: string; readonly csrfToken: string };
type OwnUser = {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly displayName?: string };
};
type SelfReview = { readonly status: { readonly userInfo: { readonly username: string } } };

export function createServer(origin: string): Server {
  const session = new Session();
  const connection = new ConnectionState(async () => isReady(origin));
  const observed = async (url: string, init: RequestInit): Promise<Response> => {
    const answered = after(silenceMs, () => void connection.verify());
    try {
      const response = await fetch(url, init);
      if (response.status === 401 && !url.endsWith('/login')) session.refused();
      if (response.status === 503) connection.lost();
      return response;
    } catch (error) {
      if (init.signal?.aborted !== true) connection.lost();
      throw error;
    } finally {
      answered();
    }
  };
  // Queries and bulk actions repeat their requests themselves, so that a user can stop them.
  const client = connect({ url: origin, session: csrfOf(session), fetch: observed, retryMs: 0 });
  let platform: Platform | undefined;
  const identified = async (): Promise<Account | undefined> => {
    platform ??= await client.request<Platform>('/version');
    return platform === undefined ? undefined : accountOf(client, platform);
  };
  return {
    client,
    session,
    connection,
    get platform() {
      if (platform === undefined) throw new Error('the server is not identified yet');
      return platform;
    },
    identify: async () => {
      const account = await identified();
      if (account === undefined) session.refused();
      else session.begin(account);
    },
    logIn: async (username, password) => {
      const answer = await client.request<LogInAnswer>('/login', { method: 'POST', body: { username, password } });
      if (answer !== undefined) session.keepCsrfToken(answer.csrfToken);
      const account = await identified();
      if (account !== undefined) session.begin(account);
    },
    logOut: async () => {
      try {
        await client.request('/logout', { method: 'POST' });
      } catch (error) {
        // A session that has already ended needs no log-out.
        if (!(error instanceof ClientError && [400, 401].includes(error.status))) throw error;
      }
      session.end();
    },
  };
}

/** Reads the token for each request, since a log-in replaces it. */
function csrfOf(session: Session): { readonly csrfToken?: string } {
  return {
    get csrfToken() {
      return session.csrfToken ?? '';
    },
  };
}

async function isReady(origin: string): Promise<boolean> {
  const silence = new AbortController();
  const answered = after(silenceMs, () => {
    silence.abort();
  });
  try {
    return (await fetch(`${origin}/readyz`, { cache: 'no-store', signal: silence.signal })).ok;
  } catch {
    return false;
  } finally {
    answered();
  }
}

/** Returns the account of the session's user; undefined for a visitor. */
async function accountOf(client: RemoteClient, { domain }: Platform): Promise<Account | undefined> {
  try {
    const user = await client.request<OwnUser>(`/apis/uc.api.${domain}/v1alpha1/users/-`);
    if (user === undefined) return undefined;
    const { name } = user.metadata;
    return { username: name, displayName: user.spec.displayName ?? name, isLocal: true };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.status === 401) return undefined;
    if (error.status !== 404) throw error;
    return withoutUser(client);
  }
}

/** Returns the account of a user of the identity provider. Such a user has no User object. */
async function withoutUser(client: RemoteClient): Promise<Account | undefined> {
  const review = await client.request<SelfReview>('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  });
  if (review === undefined) return undefined;
  const { username } = review.status.userInfo;
  return { username, displayName: username, isLocal: false };
}
