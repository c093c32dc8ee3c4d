import { isObject } from '../base/guards.ts';
import type { ClientPreconditions, TypeName } from '../plugin/api/plugin.ts';
import { decodeList, decodeObject, isAboutObject, metadataOf } from './decode-answer.ts';
import type {
  CallOptions,
  GetOptions,
  RemoteCalls,
  RemoteListQuery,
  RequestOptions,
  WriteOptions,
} from './remote-client.ts';
import type { Repeatable } from './repeats.ts';
import { pathOf, type Requests } from './requests.ts';

type ChangedOptions = Parameters<RemoteCalls['requestChanged']>[1];

/** Implements the calls of the plugins' `Client` with HTTP requests. */
export function callsOf(requests: Requests): RemoteCalls {
  const write = async <T>(
    method: string,
    path: string,
    body: object | undefined,
    { signal }: CallOptions = {},
  ): Promise<T> => decodeObject<T>(await requests.call(path, { method, body, signal }, repeatableOf(method, body)));
  const textOf = async (path: string, options: RequestOptions = {}): Promise<string> => {
    if (!path.startsWith('/')) throw new TypeError('the path of a request must start with /');
    return requests.call(path, options);
  };
  return {
    get: async <T>(type: TypeName, name: string, { signal, at }: GetOptions = {}) => {
      const { response, text } = await requests.answered(pathOf(type, name), { query: { at }, signal });
      if (response.ok) return decodeObject<T>(text);
      if (response.status === 404 && isAboutObject(text, name)) return undefined;
      throw requests.refusal(response, text);
    },
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the type
    list: async <T>(type: TypeName, { signal, ...query }: RemoteListQuery = {}) => {
      const { items, total, resourceVersion } = decodeList<T>(await requests.call(pathOf(type), { query, signal }));
      return { items, total, resourceVersion };
    },
    create: async (type, object, options) => write('POST', pathOf(type), object, options),
    update: async (type, object, options) =>
      write('PUT', pathOf(type, nameIn(object)), conditional(object, options), options),
    patch: async (type, name, patch, options) =>
      write('PATCH', pathOf(type, name), conditional(patch, options), options),
    patchStatus: async (type, name, patch, options) =>
      write('PATCH', `${pathOf(type, name)}/status`, conditional(patch, options), options),
    delete: async (type, name, options) => {
      const preconditions = preconditionsIn(options);
      return write('DELETE', pathOf(type, name), preconditions && { preconditions }, options);
    },
    request: async <T>(path: string, options?: RequestOptions) => {
      const text = await textOf(path, options);
      return text === '' ? undefined : decodeObject<T>(text);
    },
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the type
    requestChanged: async <T>(path: string, { known, signal, query = {} }: ChangedOptions) => {
      const response = await requests.answer(path, { query, ifNoneMatch: known, signal });
      const text = await requests.text(response, signal);
      if (response.status === 304) return undefined;
      if (!response.ok) throw requests.refusal(response, text);
      return { value: decodeObject<T>(text), tag: response.headers.get('etag') ?? undefined };
    },
    requestText: textOf,
  };
}

/**
 * A change of one version of an object cannot be applied twice, and neither can the deletion of one object. A second
 * create may find the object of the first one, or create another one with a generated name.
 */
function repeatableOf(method: string, body: object = {}): Repeatable {
  const { metadata, preconditions }: { readonly metadata?: unknown; readonly preconditions?: ClientPreconditions } =
    body;
  if (method === 'DELETE') return preconditions === undefined ? 'unwritten' : 'always';
  if (method === 'POST' || !isObject(metadata)) return 'unwritten';
  return metadata['resourceVersion'] === undefined ? 'unwritten' : 'always';
}

/** Adds the preconditions to the object's metadata, where the HTTP API expects them. */
function conditional(object: object, options: WriteOptions | undefined): object {
  const preconditions = preconditionsIn(options);
  return preconditions === undefined ? object : { ...object, metadata: { ...metadataOf(object), ...preconditions } };
}

function preconditionsIn({ signal, ...preconditions }: WriteOptions = {}): ClientPreconditions | undefined {
  return Object.keys(preconditions).length === 0 ? undefined : preconditions;
}

function nameIn(object: object): string {
  const { metadata }: { readonly metadata?: unknown } = object;
  if (!isObject(metadata) || typeof metadata['name'] !== 'string')
    throw new TypeError('metadata.name must be a string');
  return metadata['name'];
}
