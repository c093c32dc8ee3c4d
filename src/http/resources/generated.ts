import type { Authorize } from '../../auth/authorization/authorize.ts';
import { notFound } from '../../command/refuse.ts';
import type { Registration, TypeRegistry } from '../../plugin/registry/type-registry.ts';
import { NotServedError, type ChangeFeed } from '../../read/objects.ts';
import { nameProblem } from '../../resource/type/names.ts';
import {
  locationOf,
  type NonResourceRequest,
  type ResourceLocation,
  type ResourceRequest,
} from '../../resource/query/request-path.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { refusal, withHeaders, type Answer } from '../answer.ts';
import { Collections, type PastLists } from './collection.ts';
import { deleteCollection } from './delete-collection.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestMemory } from '../body/request-memory.ts';
import { deleteItem, getItem, patchItem, putItem, type ItemTarget, type ResourcePorts } from './item.ts';
import { answerHistory, historyTargetOf } from './history.ts';
import { ListCache } from './list-cache.ts';
import { answerPast, type PastPorts } from './past/past.ts';
import { restoreItem, type RestorePorts } from './past/restore.ts';
import { answerScale } from './scale.ts';
import { nothingWritten, problem, warningHeaders } from '../problem.ts';
import { writeInForm } from '../representation/requested-form.ts';
import { nothingHere, type Route } from '../route-table.ts';
import type { UpgradeWaits } from '../../write/admission/upgrade-waits.ts';

/** The path does not belong to a generated API, or does not accept the method. `allow` lists the accepted methods. */
export type NotServed = {
  readonly kind: 'not-served';
  readonly allow: readonly string[];
};

const collectionMethods = ['GET', 'HEAD', 'POST', 'DELETE'];
const itemMethods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'];
const partMethods = ['GET', 'HEAD', 'PUT', 'PATCH'];
const historyMethods = ['GET', 'HEAD'];
const restoreMethods = ['POST'];

type WhileServedPorts = Pick<ResourcePorts, 'execute'> & {
  readonly memory: Pick<RequestMemory, 'writerOf'>;
  /** Lets writes wait during upgrades of plugins. If undefined, they are refused at once. */
  readonly upgradeWaits: UpgradeWaits | undefined;
};

export type GeneratedPorts = ResourcePorts &
  WhileServedPorts & {
    readonly history: PastPorts;
    readonly authorize: Authorize;
    readonly past: PastLists;
  };

/** The generated APIs of all registered types. The path of a request determines the type. */
export class GeneratedApi {
  readonly #registry: TypeRegistry;
  readonly #ports: RestorePorts;
  readonly #history: PastPorts;
  readonly #collections: Collections;

  constructor(registry: TypeRegistry, ports: GeneratedPorts, feed: ChangeFeed) {
    this.#registry = registry;
    this.#history = ports.history;
    const { reader, authorize, history } = ports;
    this.#ports = { reader, authorize, past: history, execute: executeWhileServed(registry, ports) };
    this.#collections = new Collections(this.#ports, { cache: new ListCache(feed), past: ports.past });
  }

  /** Returns the type at a path, even if the type is not served. */
  registrationAt({ group, version, resource }: ResourceLocation): Registration | undefined {
    return this.#registry.byPath(group, version, resource);
  }

  /** Returns the plugin that owns the group of the path and is being reloaded; undefined without such a plugin. */
  returningAt([root, group = '']: readonly string[]): string | undefined {
    return root === 'apis' ? this.#registry.reloadingPlugin(group) : undefined;
  }

  /**
   * Returns whether the path will probably be served soon, because its plugin is being reloaded. A plugin that starts
   * for the first time may wait for long, for example for another plugin.
   */
  isReturning(info: ResourceRequest | NonResourceRequest): boolean {
    const place = info.kind === 'resource' ? info : locationOf(info.segments);
    const registration = place && this.registrationAt(place);
    if (this.returningAt(info.segments) !== undefined) return true;
    return registration?.serving === false && this.#registry.wasReloaded(registration.type.plugin);
  }

  /** Returns the plugins with types that are not known yet. The set becomes empty shortly after the start. */
  expected(): ReadonlySet<string> {
    return this.#registry.expected();
  }

  /** Returns whether the path names a registered type, or the group or version of a registered type. */
  isKnown([, group = '', version, plural]: readonly string[]): boolean {
    if (version !== undefined && plural !== undefined)
      return this.#registry.byPath(group, version, plural) !== undefined;
    return this.#registry
      .versions()
      .some(({ type }) => type.group === group && (version === undefined || type.version === version));
  }

  /** Returns the routes of all registered types, including types that are not served. */
  all(): readonly Route[] {
    return this.#registry
      .versions()
      .flatMap(({ type }) => [
        ...routesAt(collectionMethods, type.path),
        ...routesAt(itemMethodsOf(type, undefined), `${type.path}/{name}`),
        ...['history', 'restore', 'scale', 'status'].flatMap((subresource) =>
          routesAt(itemMethodsOf(type, subresource), `${type.path}/{name}/${subresource}`),
        ),
      ]);
  }

  answer(exchange: Exchange): Answer | NotServed | Promise<Answer> {
    const { info } = exchange;
    const place = info.kind === 'resource' ? info : locationOf(info.segments);
    if (place === undefined) return nothingHere;
    const registration = this.registrationAt(place);
    const answer = this.#answer(exchange, place, registration);
    const warning = registration?.type.deprecation;
    return warning === undefined ? answer : warnedAnswer(answer, warning);
  }

  #answer(
    exchange: Exchange,
    place: ResourceLocation,
    registration: Registration | undefined,
  ): Answer | NotServed | Promise<Answer> {
    if (place.subresource === 'history' || isOfPast(exchange, place))
      return this.#answerOfLog(exchange, place, registration);
    if (registration === undefined) return nothingHere;
    if (!registration.serving) return refusal(notYetServing(registration));
    const { type } = registration;
    if (place.name === undefined) return this.#collection(exchange, type);
    const allow = itemMethodsOf(type, place.subresource);
    if (!allow.includes(exchange.method)) return { kind: 'not-served', allow };
    // No object has an invalid name, and the storage does not accept such a name as a key.
    if (nameProblem(place.name) !== undefined) return refusal(problem('not-found', notFound(type, place.name)));
    const target = { type, name: place.name };
    // A Scale is the same in each version of the type, and its pointers belong to the preferred version.
    if (place.subresource === 'scale' && type.scale !== undefined) {
      const { preferred = type } = type;
      return answerWhileServed(type, answerScale(exchange, { ...target, type: preferred }, this.#ports, type.scale));
    }
    return this.#item(exchange, target);
  }

  /**
   * Returns the history of an object, or the object at a moment. The type need not be registered, because the log
   * contains the events of its objects.
   */
  #answerOfLog(
    exchange: Exchange,
    place: ResourceLocation,
    registration: Registration | undefined,
  ): Answer | NotServed | Promise<Answer> {
    const target = historyTargetOf(place);
    if (target === undefined) return nothingHere;
    const isKnown = nameProblem(target.name) === undefined;
    if (registration === undefined) {
      const isServedElsewhere = this.#registry.byKey(target.key) !== undefined;
      const wasServed = isKnown && this.#history.reader.head(target.key, target.name).kind !== 'absent';
      if (isServedElsewhere || !wasServed) return nothingHere;
    } else if (!registration.serving) {
      return refusal(notYetServing(registration));
    }
    if (!historyMethods.includes(exchange.method)) return { kind: 'not-served', allow: historyMethods };
    if (!isKnown) return refusal(problem('not-found', notFound(target, target.name)));
    return place.subresource === 'history'
      ? answerHistory(exchange, { ...target, type: registration?.type }, this.#history)
      : answerPast(exchange, target, { type: registration?.type, ports: this.#history });
  }

  #collection(exchange: Exchange, type: ResourceType): Answer | NotServed | Promise<Answer> {
    switch (exchange.method) {
      case 'GET':
      case 'HEAD':
        return answerWhileServed(type, this.#collections.list(exchange, type));
      case 'POST':
        return writeInForm(exchange, type, () => this.#collections.create(exchange, type));
      case 'DELETE':
        return answerWhileServed(type, deleteCollection(exchange, type, this.#ports));
      default:
        return { kind: 'not-served', allow: collectionMethods };
    }
  }

  #item(exchange: Exchange, target: ItemTarget): Answer | Promise<Answer> {
    switch (exchange.method) {
      case 'POST':
        return writeInForm(exchange, target.type, () => restoreItem(exchange, target, this.#ports));
      case 'PUT':
        return writeInForm(exchange, target.type, () => putItem(exchange, target, this.#ports));
      case 'PATCH':
        return writeInForm(exchange, target.type, () => patchItem(exchange, target, this.#ports));
      case 'DELETE':
        return writeInForm(exchange, target.type, () => deleteItem(exchange, target, this.#ports));
      default:
        return getItem(exchange, target, this.#ports);
    }
  }
}

function warnedAnswer(
  answer: Answer | NotServed | Promise<Answer>,
  warning: string,
): Answer | NotServed | Promise<Answer> {
  const headers = warningHeaders([warning]);
  if (answer instanceof Promise) return answer.then((late) => withHeaders(late, headers));
  return answer.kind === 'not-served' ? answer : withHeaders(answer, headers);
}

function isOfPast({ method, query }: Exchange, { name, subresource }: ResourceLocation): boolean {
  return historyMethods.includes(method) && name !== undefined && subresource === undefined && query.has('at');
}

/** Returns the methods of an object or subresource. The list is empty for a subresource that the type lacks. */
function itemMethodsOf(type: ResourceType, subresource: string | undefined): readonly string[] {
  if (subresource === undefined) return itemMethods;
  if (subresource === 'history') return historyMethods;
  if (subresource === 'restore') return restoreMethods;
  const isServed =
    subresource === 'status' ? type.statusSubresource : subresource === 'scale' && type.scale !== undefined;
  return isServed ? partMethods : [];
}

function routesAt(methods: readonly string[], pattern: string): readonly Route[] {
  return methods.map((method) => ({ method, pattern }));
}

/** The Retry-After of a request if its type stops while the request waits. */
const retryAfterStopSeconds = 1;

function stopped({ plural }: ResourceType): string {
  return `${plural} are not served now`;
}

function executeWhileServed(registry: TypeRegistry, ports: WhileServedPorts): ResourcePorts['execute'] {
  const { execute, upgradeWaits, memory } = ports;
  return async (type, command, context) => {
    const isServed = (): boolean => registry.byKey(type.key)?.serving === true;
    if (isServed()) return execute(type, command, context);
    const { subject, cause, signal } = context;
    const waiting = {
      of: memory.writerOf({ subject, sender: { address: cause.address ?? '' } }),
      deadline: upgradeWaits?.deadline() ?? 0,
      disconnected: signal?.(),
    };
    if ((await upgradeWaits?.until(isServed, waiting)) === true) return execute(type, command, context);
    const rejection = { detail: stopped(type), retryAfterSeconds: retryAfterStopSeconds };
    return { ok: false, rejection: { reason: 'unavailable', ...rejection, isUnwritten: true } };
  };
}

function answerWhileServed(type: ResourceType, answer: Answer | Promise<Answer>): Answer | Promise<Answer> {
  if (!(answer instanceof Promise)) return answer;
  return answer.catch((error: unknown) => {
    if (!(error instanceof NotServedError)) throw error;
    return refusal(problem('unavailable', stopped(type), { retryAfterSeconds: retryAfterStopSeconds }));
  });
}

export function notYetServing({ type }: Registration): ReturnType<typeof problem> {
  const detail = `${type.plural} are not served yet: their indexes are being built, or their plugin is starting`;
  return problem('unavailable', detail, { retryAfterSeconds: 1, ...nothingWritten });
}
