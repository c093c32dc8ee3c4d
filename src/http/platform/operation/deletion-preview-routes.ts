import type { Authorize } from '../../../auth/authorization/authorize.ts';
import type { WriteContext, WriteOutcome } from '../../../command/command.ts';
import type { Propagation } from '../../../command/propagation.ts';
import type { TypeRegistry } from '../../../plugin/registry/type-registry.ts';
import type { ObjectReader } from '../../../read/objects.ts';
import type { DependentReader } from '../../../read/operation/dependents.ts';
import type { ReferenceReader } from '../../../read/references/reference-reader.ts';
import { resourceRequest } from '../../../resource/query/request-path.ts';
import { storedObject } from '../../../resource/object/shown-object.ts';
import type { TypeKey } from '../../../resource/type/index-entry.ts';
import { nameProblem } from '../../../resource/type/names.ts';
import type { ResourceType } from '../../../resource/type/resource-type.ts';
import { typeKeyOf } from '../../../resource/type/type-declaration.ts';
import { notFound } from '../../../command/refuse.ts';
import type { Execute } from '../../../write/execute.ts';
import { jsonAnswer, refusal, takenOver, type Answer } from '../../answer.ts';
import { decodeDeletionPreview } from '../../body/decode-request-body.ts';
import { readObject } from '../../body/read-object.ts';
import type { Exchange } from '../../exchange.ts';
import type { PlatformRoute } from '../../fixed-routes.ts';
import { problem, problemOf, problems, type Problem } from '../../problem.ts';
import { readerOf } from '../../resources/collection.ts';
import { writeContext } from '../../resources/decode-write.ts';
import { platformApiVersion, platformType } from '../platform-type.ts';
import { impactOf, type DeletionImpact } from './deletion-impact.ts';

export type DeletionPreviewRoutesDependencies = {
  readonly domain: string;
  readonly registry: TypeRegistry;
  readonly reader: Pick<ObjectReader, 'get' | 'snapshots'>;
  readonly references: Pick<ReferenceReader, 'declaredTo' | 'referrers'>;
  readonly dependents: DependentReader;
  readonly execute: Execute;
  readonly authorize: Authorize;
};

type Previewed = {
  readonly name: string;
  /** Absent if the deletion is not refused. */
  readonly refusal?: { readonly status: number; readonly reason: string; readonly detail: string };
  /**
   * The finalizers that block the removal of the marked object; empty if the object is removed at once. Absent if the
   * deletion is refused.
   */
  readonly finalizers?: readonly string[];
} & Partial<DeletionImpact>;

/**
 * Creates the route that shows the effects of deletions. Nothing is written: each deletion is a dry run with the checks
 * of a DELETE. The caller needs the right to delete each of the objects. The response names only objects that the
 * caller may `get`.
 */
export function deletionPreviewRoutes(dependencies: DeletionPreviewRoutesDependencies): readonly PlatformRoute[] {
  const previews = new DeletionPreviews(dependencies);
  const path = `/apis/api.console.${dependencies.domain}/${platformApiVersion}/deletionpreviews`;
  return [{ method: 'POST', path, route: async (_params, exchange) => previews.answer(exchange) }];
}

type Asked = {
  readonly exchange: Exchange;
  readonly type: ResourceType;
  readonly context: WriteContext;
  readonly propagation: Propagation | undefined;
};

/** Refusals that concern the whole request and not a single object. */
const passing: ReadonlySet<Problem['reason']> = new Set(['too-many-requests', 'unavailable', 'insufficient-storage']);

class DeletionPreviews {
  readonly #dependencies: DeletionPreviewRoutesDependencies;

  constructor(dependencies: DeletionPreviewRoutesDependencies) {
    this.#dependencies = dependencies;
  }

  async answer(exchange: Exchange): Promise<Answer> {
    const body = await readObject(exchange);
    if (!body.ok) return body.answer;
    const decoded = decodeDeletionPreview(body.value);
    if (!decoded.ok) return refusal(decoded.problem);
    const context = writeContext(exchange);
    if (!context.ok) return refusal(context.problem);
    const { group = '', resource, names, propagationPolicy: propagation } = decoded.value;
    const served = platformType(this.#dependencies.registry, typeKeyOf(group, resource));
    if (!served.ok) return served.answer;
    const asked = { exchange, type: served.type, propagation, context: { ...context.value, dryRun: true } };
    const items: Previewed[] = [];
    for (const name of new Set(names)) {
      // A preview of many names shares the event loop with other requests, as a long list does.
      const turn = this.#dependencies.reader.snapshots.turn(readerOf(exchange));
      if (turn !== undefined) await turn;
      if (exchange.res.closed) return takenOver;
      const previewed = await this.#preview(name, asked);
      if ('problem' in previewed) return refusal(previewed.problem);
      items.push(previewed);
    }
    return jsonAnswer({ items });
  }

  async #preview(name: string, asked: Asked): Promise<Previewed | { readonly problem: Problem }> {
    const { exchange, type, context, propagation } = asked;
    const { authorize, execute, reader } = this.#dependencies;
    if (nameProblem(name) !== undefined) return refusedWith(name, problem('not-found', notFound(type, name)));
    const access = authorize(exchange.subject, requestFor('delete', type, name));
    if (!access.allowed) return refusedWith(name, problem('forbidden', access.reason));
    const outcome = await execute(type, { type: 'delete', name, preconditions: {}, propagation }, context);
    const refused = outcome.ok ? undefined : problemOf(outcome.rejection);
    if (refused !== undefined && passing.has(refused.reason)) return { problem: refused };
    const stored = reader.get(type.key, name);
    const shown = refused === undefined ? { name } : refusedWith(name, refused);
    return stored === undefined ? shown : { ...shown, ...this.#impact(name, asked, { bytes: stored.bytes, outcome }) };
  }

  #impact(
    name: string,
    { exchange, type, propagation }: Asked,
    { bytes, outcome }: { readonly bytes: Uint8Array; readonly outcome: WriteOutcome },
  ): Partial<Previewed> {
    const { registry, authorize, references, dependents } = this.#dependencies;
    const { uid, finalizers = [] } = storedObject(outcome.ok ? outcome.bytes : bytes).metadata;
    const mayRead = (key: TypeKey, other: string): boolean => {
      const registered = registry.byKey(key)?.type;
      return registered !== undefined && authorize(exchange.subject, requestFor('get', registered, other)).allowed;
    };
    const doomed = { type: type.key, name, uid, finalizers, propagation };
    const impact = impactOf(doomed, { references, dependents, mayRead });
    return outcome.ok ? { finalizers, ...impact } : impact;
  }
}

function refusedWith(name: string, { reason, detail }: Problem): Previewed {
  const { status, word } = problems[reason];
  return { name, refusal: { status, reason: word, detail } };
}

function requestFor(verb: string, { group, version, plural }: ResourceType, name: string) {
  return resourceRequest(verb, { group, version, resource: plural, name });
}
