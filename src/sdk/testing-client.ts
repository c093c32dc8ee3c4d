import {
  ClientError,
  type Client,
  type ClientListQuery,
  type ClientPreconditions,
  type TypeName,
} from '../plugin/api/plugin.ts';

/** Request and response bodies are JSON unless the headers say otherwise. */
export type TestRequest = {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};
export type TestFetch = (path: string, request?: TestRequest) => Promise<Response>;

/** A client of the server with one user's credentials. */
export type TestCaller = {
  /**
   * `fetch` of a path on the server, with the caller's credentials. A `body` other than text or bytes is sent as JSON.
   */
  readonly fetch: TestFetch;
  /** The `client` that a route receives, over HTTP: a forbidden call rejects with a `ClientError`. */
  readonly client: Client;
};

/** `authorization` undefined: a visitor. */
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
  return { fetch: send, client: httpClient(send) };
}

/** The `Client` of plugin code, implemented over HTTP. */
function httpClient(send: TestFetch): Client {
  return {
    get: async <T>(type: TypeName, name: string) => {
      const answer = await send(pathOf(type, name));
      if (answer.status !== 404) return decoded<T>(answer);
      await answer.body?.cancel();
      return undefined;
    },
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the author names the type
    list: async <T>(type: TypeName, query: ClientListQuery = {}) => {
      const { items, total, metadata } = await decoded<{
        readonly items: readonly T[];
        readonly total: number;
        readonly metadata: { readonly resourceVersion: string };
      }>(await send(`${pathOf(type)}${queryOf(query)}`));
      return { items, total, resourceVersion: metadata.resourceVersion };
    },
    create: async (type, object) => decoded(await send(pathOf(type), { method: 'POST', body: object })),
    update: async (type, object, preconditions) =>
      decoded(await send(pathOf(type, nameIn(object)), { method: 'PUT', body: conditional(object, preconditions) })),
    patch: async (type, name, patch, preconditions) =>
      decoded(await send(pathOf(type, name), { method: 'PATCH', body: conditional(patch, preconditions) })),
    patchStatus: async (type, name, patch, preconditions) =>
      decoded(await send(`${pathOf(type, name)}/status`, { method: 'PATCH', body: conditional(patch, preconditions) })),
    delete: async (type, name, preconditions) =>
      decoded(
        await send(pathOf(type, name), {
          method: 'DELETE',
          ...(preconditions === undefined ? {} : { body: { preconditions } }),
        }),
      ),
  };
}

function pathOf({ group, version, plural }: TypeName, name?: string): string {
  const collection = `/${group === '' ? 'api' : `apis/${group}`}/${version}/${plural}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

function queryOf(query: ClientListQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) parameters.append(name, String(each));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

/** Over HTTP, preconditions are members of the object's metadata. */
function conditional(object: object, preconditions: ClientPreconditions | undefined): object {
  if (preconditions === undefined) return object;
  const { metadata } = object as { readonly metadata?: object };
  return { ...object, metadata: { ...metadata, ...preconditions } };
}

function nameIn(object: object): string {
  const { metadata } = object as { readonly metadata?: { readonly name?: unknown } };
  if (typeof metadata?.name !== 'string') throw new TypeError('metadata.name must be a string');
  return metadata.name;
}

type Refusal = {
  readonly message?: string;
  readonly detail?: string;
  readonly reason?: string;
  readonly errors?: ClientError['errors'];
};

/** The response is trusted to have the caller's type, as with the client that routes receive. */
async function decoded<T>(answer: Response): Promise<T> {
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text) as T;
  const { message, detail, reason = 'Unknown', errors = [] } = refusalIn(text);
  const retryAfter = Number(answer.headers.get('retry-after') ?? NaN);
  throw new ClientError(detail ?? message ?? `answered ${String(answer.status)}`, {
    reason,
    status: answer.status,
    errors,
    ...(Number.isNaN(retryAfter) ? {} : { retryAfterSeconds: retryAfter }),
  });
}

function refusalIn(text: string): Refusal {
  try {
    return JSON.parse(text) as Refusal;
  } catch {
    return { message: text };
  }
}
