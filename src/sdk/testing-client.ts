import { connect, type RemoteClient } from '../client/client.ts';

/** A request. A `body` other than text, bytes or form data is sent as JSON. `headers` can replace the content type. */
export type TestRequest = {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};
export type TestFetch = (path: string, request?: TestRequest) => Promise<Response>;

/** A client of the server with one user's credentials. */
export type TestCaller = {
  /**
   * Fetches a path on the server with the caller's credentials. A `body` other than text, bytes or form data is sent as
   * JSON.
   */
  readonly fetch: TestFetch;
  /**
   * A client over HTTP (`ledgerplane/client`). In addition to the methods of a route's `client`, it has watches and
   * informers.
   */
  readonly client: RemoteClient;
};

/** Creates a caller of the server. If `authorization` is undefined, the caller is a visitor. */
export function testCaller(url: string, authorization: string | undefined): TestCaller {
  const send: TestFetch = async (path, { method = 'GET', body, headers = {} } = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData;
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return fetch(new URL(path, url), {
      method,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': contentType }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: isRaw ? (body as NonNullable<RequestInit['body']>) : JSON.stringify(body) }),
    });
  };
  const client = connect({
    url,
    fetch: async (target, init) =>
      fetch(target, {
        ...init,
        headers: {
          ...Object.fromEntries(new Headers(init.headers)),
          ...(authorization === undefined ? {} : { authorization }),
        },
      }),
  });
  return { fetch: send, client };
}
