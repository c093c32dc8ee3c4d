/**
 * The client of the generated API for Node and browsers (`ledgerplane/client`). The client has the calls of the
 * plugins' `Client`, and also paged lists, watches and informers. The module has no dependencies.
 */
import { clientClock, type Clock } from '../base/clock.ts';
import type { TypeName } from '../plugin/api/plugin.ts';
import { BackOff } from './back-off.ts';
import { callsOf } from './calls.ts';
import { Informer, type InformerOptions } from './informer.ts';
import { pagesOf, type PagesQuery } from './pages.ts';
import type { RemoteCalls, RemoteClient } from './remote-client.ts';
import { Requests, type Credentials, type Fetch } from './requests.ts';
import { Watch, type ChangeEvent, type WatchEvent, type WatchOptions, type WatchSettings } from './watch.ts';

export { ClientError } from '../plugin/api/plugin.ts';
export type {
  Client,
  ClientErrorMembers,
  ClientList,
  ClientListQuery,
  ClientPreconditions,
  ObjectMetadata,
  ObjectOf,
  OwnerReference,
  PluginObject,
  TypeName,
  Typed,
} from '../plugin/api/plugin.ts';
export { ConnectionError } from './connection-error.ts';
export { MalformedWatchError, type ListPage } from './decode-answer.ts';
export type { Informer, InformerHandler, InformerOptions } from './informer.ts';
export type { IndexedValue, IndexFunction } from './informer-indexes.ts';
export type { PagesQuery } from './pages.ts';
export type {
  CallOptions,
  GetOptions,
  RemoteClient,
  RemoteListQuery,
  RequestOptions,
  WriteOptions,
} from './remote-client.ts';
export type { Fetch } from './requests.ts';
export type { ChangeEvent, WatchEvent, WatchOptions } from './watch.ts';

export type ConnectOptions = Credentials & {
  /** The server's URL, including the path prefix under which a proxy serves the API. */
  readonly url: string | URL;
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Replaces the system clock, for tests. */
  readonly clock?: Clock | undefined;
  /** Replaces the random numbers from 0 to 1 for the waits between attempts, for tests. */
  readonly chance?: (() => number) | undefined;
  /**
   * A watch that receives nothing for this time, in milliseconds, connects again. The default is 30,000. The server
   * sends a keep-alive every 10 s.
   */
  readonly silenceMs?: number | undefined;
  /**
   * The time, in milliseconds, in which a call sends its request again after a 429 or 503 with a Retry-After, if a
   * second effect is impossible. The default is 30,000; 0 sends each request once.
   */
  readonly retryMs?: number | undefined;
};

const silenceMsDefault = 30_000;
const retryMsDefault = 30_000;

/** Creates a client without sending a request. Throws a `TypeError` for invalid options. */
export function connect(options: ConnectOptions): RemoteClient {
  const {
    url,
    fetch: send = async (target: string, init: RequestInit) => fetch(target, init),
    clock = clientClock,
  } = options;
  const { silenceMs = silenceMsDefault, retryMs = retryMsDefault, chance = drawn } = options;
  const requests = new Requests(url, options, { fetch: send, clock, chance, retryMs });
  return { ...callsOf(requests), ...streamsOf(requests, { silenceMs, chance }) };
}

/** Returns a random number from 0 to 1. `crypto` exists in browsers and in Node. */
function drawn(): number {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return number / 2 ** 32;
}

function streamsOf(requests: Requests, settings: WatchSettings): Omit<RemoteClient, keyof RemoteCalls> {
  const opened = <T>(type: TypeName, options: WatchOptions<T>): Watch<T> =>
    new Watch<T>(requests, type, settings, options);
  /** A watch without `bookmarks` yields no BOOKMARKs. */
  function watch<T>(
    type: TypeName,
    options?: WatchOptions<T> & { readonly bookmarks?: false | undefined },
  ): AsyncGenerator<ChangeEvent<T>, void, undefined>;
  function watch<T>(type: TypeName, options?: WatchOptions<T>): AsyncGenerator<WatchEvent<T>, void, undefined>;
  async function* watch<T>(type: TypeName, options: WatchOptions<T> = {}) {
    for await (const events of opened(type, options).batches()) yield* events;
  }
  return {
    watch,
    pages: (type, query = {}) => pagesOf(requests, type, query),
    items: async function* items<T>(type: TypeName, query: PagesQuery = {}) {
      for await (const page of pagesOf<T>(requests, type, query)) yield* page.items;
    },
    informer: <T>(type: TypeName, options: InformerOptions<T> = {}) => {
      const backOff = new BackOff(requests.clock, settings.chance);
      return new Informer<T>(
        {
          watch: (watchOptions) => opened(type, watchOptions),
          pause: async (signal) => backOff.wait(undefined, signal),
        },
        options,
      );
    },
  };
}
