import { messageOf } from '../base/error-message.ts';
import { isObject } from '../base/guards.ts';
import type { Cause, CausingEvent } from '../command/event.ts';
import type { Command, Preconditions, WriteContext } from '../command/command.ts';
import type { Rejection, RejectionReason } from '../command/rejection.ts';
import { actorOf, type Subject } from '../command/subject.ts';
import type { Execute } from '../write/execute.ts';
import { clientListBytesMax } from '../limits/plugins.ts';
import { clientOf } from '../read/client.ts';
import type { ObjectReader } from '../read/objects.ts';
import type { ListQuery, Window } from '../resource/query/list-query.ts';
import type { JsonObject } from '../resource/object/object.ts';
import { bindFields } from '../resource/query/bind-fields.ts';
import { parseSort } from '../resource/query/sort-keys.ts';
import { resourceRequest, type ResourceRequest } from '../resource/query/request-path.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { versionedAnswer, versionedItems } from '../resource/type/versions/shown-version.ts';
import { parseFieldSelector, parseLabelSelector } from '../resource/query/selector.ts';
import { asPluginObject, asJsonObject } from './objects/load-object.ts';
import {
  ClientError,
  type Client,
  type ClientList,
  type ClientListQuery,
  type ClientPreconditions,
  type TypeName,
} from './api/plugin.ts';
import type { TypeRegistry } from './registry/type-registry.ts';

export type ClientDependencies = {
  readonly registry: TypeRegistry;
  readonly reader: ObjectReader;
  readonly execute: Execute;
  /** Returns the reason and the HTTP status that the HTTP layer uses for a refusal. */
  readonly refusalOf: (reason: RejectionReason) => { readonly word: string; readonly status: number };
};

export type ClientBinding = {
  readonly authorize: (
    request: ResourceRequest,
  ) => { readonly allowed: true } | { readonly allowed: false; readonly reason: string };
  readonly subject: Subject;
  /**
   * Returns the cause of a write that begins now. While the client serves a request, the result is the request's cause.
   */
  readonly cause: () => Omit<Cause, 'verb' | 'actor'>;
  /** The event that triggered the reconcile step that uses this client. */
  readonly causedBy?: CausingEvent | undefined;
  /** The subject that rate limits charge; `subject` by default. */
  readonly chargedTo?: Subject;
  /**
   * The network address of `chargedTo`, for rate limits. The result of `cause` contains the address only while the
   * request is served.
   */
  readonly chargedFrom?: string;
};

/** Creates an in-process client of the generated API. Authorization, writes and refusals work as over HTTP. */
export function createClient(dependencies: ClientDependencies, binding: ClientBinding): Client {
  const client = new BoundClient(dependencies, binding);
  return {
    // `async` turns a thrown refusal into a rejected promise, as in all other calls.
    get: async <T>(type: TypeName, name: string) => {
      const bytes = client.read(type, name);
      return Promise.resolve(bytes === undefined ? undefined : asPluginObject<T>(bytes));
    },
    list: async (type, query) => client.list(type, query),
    create: async (type, object) =>
      client.write(type, 'create', () => ({ type: 'create', object: asJsonObject(object) })),
    update: async (type, object, preconditions) =>
      client.write(type, 'update', () => {
        const body = asJsonObject(object);
        return {
          type: 'replace',
          name: nameOf(body),
          object: body,
          part: 'main',
          preconditions: preconditionsOf(preconditions),
        };
      }),
    patch: async (type, name, patch, preconditions) =>
      client.write(type, 'patch', () => ({
        type: 'patch',
        name,
        patch: { kind: 'merge', document: asJsonObject(patch) },
        part: 'main',
        preconditions: preconditionsOf(preconditions),
      })),
    patchStatus: async (type, name, patch, preconditions) =>
      client.write(type, 'patch', () => ({
        type: 'patch',
        name,
        patch: { kind: 'merge', document: asJsonObject(patch) },
        part: 'status',
        preconditions: preconditionsOf(preconditions),
      })),
    delete: async (type, name, preconditions) =>
      client.write(type, 'delete', () => ({ type: 'delete', name, preconditions: preconditionsOf(preconditions) })),
  };
}

/** Authorizes a plugin: every verb on the plugin's types, and no verb on other types. */
export function authorizePlugin(registry: TypeRegistry, plugin: string): ClientBinding['authorize'] {
  return ({ group, version, resource, verb }) => {
    if (registry.byPath(group, version, resource)?.type.plugin === plugin) return { allowed: true };
    return {
      allowed: false,
      reason:
        `forbidden: the plugin ${plugin} cannot ${verb} ${resource} in API group ` +
        `${JSON.stringify(group)}: a plugin has rights only on its own types`,
    };
  };
}

/**
 * Refuses every call after `isOver` returns true. The writes of an outdated reconcile step could conflict with the
 * writes of a newer step.
 */
export function authorizeUntil(
  isOver: () => boolean,
  authorize: ClientBinding['authorize'],
): ClientBinding['authorize'] {
  return (request) =>
    isOver() ? { allowed: false, reason: 'forbidden: the plugin of this step has stopped' } : authorize(request);
}

class BoundClient {
  readonly #dependencies: ClientDependencies;
  readonly #binding: ClientBinding;

  constructor(dependencies: ClientDependencies, binding: ClientBinding) {
    this.#dependencies = dependencies;
    this.#binding = binding;
  }

  read(typeName: TypeName, name: string): Uint8Array | undefined {
    const type = this.#authorized(typeName, 'get', { name });
    const bytes = this.#dependencies.reader.get(type.key, name)?.bytes;
    return bytes && versionedAnswer(bytes, type);
  }

  async list<T>(typeName: TypeName, query: ClientListQuery = {}): Promise<ClientList<T>> {
    const type = this.#authorized(typeName, 'list', {});
    const turn = this.#dependencies.reader.snapshots.turn(clientOf(this.#binding.subject, ''));
    if (turn !== undefined) await turn;
    const listed = this.#dependencies.reader.list(type.key, this.#query(type, query));
    const { items, total, position } = 'rest' in listed ? await listed.rest() : listed;
    const slices: Buffer[] = [];
    let bytes = 0;
    for await (const slice of items instanceof Uint8Array ? [items] : items()) {
      bytes += slice.length;
      if (bytes > clientListBytesMax)
        throw this.#refused(
          'bad-request',
          `the list is longer than ${String(clientListBytesMax)} bytes: request smaller pages`,
        );
      if (slice.length > 0) slices.push(Buffer.from(versionedItems(slice, type)));
    }
    const text = slices.map((slice) => slice.toString('utf8')).join(',');
    const decoded: readonly T[] = asPluginObject(Buffer.from(`[${text}]`));
    return { items: decoded, total, resourceVersion: position.toString() };
  }

  async write<T>(
    typeName: TypeName,
    verb: 'create' | 'update' | 'patch' | 'delete',
    command: () => Command,
  ): Promise<T> {
    const made = this.#made(command);
    const type = this.#authorized(typeName, verb, made.type === 'create' ? {} : { name: made.name, ...partOf(made) });
    if (isOfStatus(made) && !type.statusSubresource)
      throw this.#refused(
        'bad-request',
        `${type.key} has no status subresource: write the status with the rest of the object`,
      );
    const { cause, causedBy, subject, chargedTo = subject, chargedFrom } = this.#binding;
    const context: WriteContext = {
      cause: { actor: actorOf(subject), ...cause(), verb },
      causedBy,
      dryRun: false,
      fieldValidation: undefined,
      origin: 'plugin',
      subject,
      chargedTo,
      ...(chargedFrom === undefined ? {} : { chargedFrom }),
    };
    const outcome = await this.#dependencies.execute(type, made, context);
    if (!outcome.ok) throw this.#rejected(outcome.rejection);
    return asPluginObject<T>(outcome.bytes);
  }

  /** Returns the command. A plugin may pass any value; a value that is not JSON is refused. */
  #made(command: () => Command): Command {
    try {
      return command();
    } catch (error) {
      throw this.#refused('bad-request', messageOf(error));
    }
  }

  #authorized(
    { group, version, plural }: TypeName,
    verb: string,
    place: { readonly name?: string; readonly subresource?: string },
  ): ResourceType {
    const request = resourceRequest(verb, { group, version, resource: plural, ...place });
    const authorized = this.#binding.authorize(request);
    if (!authorized.allowed) throw this.#refused('forbidden', authorized.reason);
    const registration = this.#dependencies.registry.byPath(group, version, plural);
    if (registration === undefined)
      throw this.#refused('not-found', `there is no type ${plural} in ${group}/${version}`);
    if (!registration.serving)
      throw this.#refused('unavailable', `the plugin ${registration.type.plugin} has not started yet`);
    return registration.type;
  }

  #query(
    type: ResourceType,
    { labelSelector = [], fieldSelector = [], sort = [], page, size }: ClientListQuery,
  ): ListQuery {
    const labels = parseLabelSelector(listOf(labelSelector));
    if (!labels.ok) throw this.#refused('bad-request', labels.problem);
    const fields = parseFieldSelector(listOf(fieldSelector));
    if (!fields.ok) throw this.#refused('bad-request', fields.problem);
    const bound = bindFields(fields.requirements, type.indexes);
    if (!bound.ok) throw this.#refused('bad-request', bound.problem);
    const sorted = parseSort(listOf(sort), type.indexes);
    if (!sorted.ok) throw this.#refused('bad-request', sorted.problem);
    return {
      selection: { labels: labels.requirements, fields: bound.requirements },
      sort: sorted.sort,
      window: this.#window(page, size),
    };
  }

  #window(page: number | undefined, size: number | undefined): Window {
    if ([page, size].some((count) => count !== undefined && !(Number.isSafeInteger(count) && count >= 0)))
      throw this.#refused('bad-request', 'page and size must be whole numbers of at least 0');
    return size === undefined || size === 0 ? { kind: 'all' } : { kind: 'page', page: Math.max(1, page ?? 1), size };
  }

  #rejected(rejection: Rejection): ClientError {
    const { word, status } = this.#dependencies.refusalOf(rejection.reason);
    return new ClientError(rejection.detail, {
      reason: word,
      status,
      ...('violations' in rejection ? { errors: rejection.violations } : {}),
      ...('retryAfterSeconds' in rejection ? { retryAfterSeconds: rejection.retryAfterSeconds } : {}),
    });
  }

  #refused(reason: RejectionReason, message: string): ClientError {
    const { word, status } = this.#dependencies.refusalOf(reason);
    return new ClientError(message, {
      reason: word,
      status,
      ...(reason === 'unavailable' ? { retryAfterSeconds: 1 } : {}),
    });
  }
}

function isOfStatus(command: Command): boolean {
  return command.type === 'patch' && command.part === 'status';
}

/** Rights on an object do not include rights on the object's status, and vice versa. */
function partOf(command: Command): { readonly subresource?: string } {
  return isOfStatus(command) ? { subresource: 'status' } : {};
}

function listOf(given: string | readonly string[]): readonly string[] {
  return typeof given === 'string' ? [given] : given;
}

/** Decodes preconditions. A plugin may pass any value, so a precondition that is not a string is refused. */
function preconditionsOf(given: ClientPreconditions | undefined): Preconditions {
  const { uid, resourceVersion }: { readonly uid?: unknown; readonly resourceVersion?: unknown } = given ?? {};
  if (![uid, resourceVersion].every((value) => value === undefined || typeof value === 'string'))
    throw new TypeError('preconditions: uid and resourceVersion must be strings');
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

function nameOf({ metadata }: JsonObject): string {
  const name = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string') throw new TypeError('metadata.name must be a string');
  return name;
}
