import { ofTypes } from '../../audit/stream/event-selection.ts';
import { logStart } from '../../log/log.ts';
import type { ObjectReader } from '../../read/objects.ts';
import type { AuditProgress } from '../../read/audit-progress.ts';
import type { Selection } from '../../resource/query/list-query.ts';
import type { Watched, WatchPlan, WatchStart } from '../../watch/watch-plan.ts';
import { problem, type Problem } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import type { Decoded } from '../resources/decode-list-query.ts';
import { decodeWatchQuery } from '../watch/decode-watch-query.ts';
import type { WatchRequest } from '../watch/watching.ts';
import { decodeEventSelector } from './decode-events-query.ts';
import { scopeOf, type AllowsResource, type EventScope, type EventScopes } from './event-scope.ts';

export type EventWatchesDependencies = EventScopes & {
  readonly audit: Pick<AuditProgress, 'unavailable'>;
  /** The object read model, which is usually ahead of the audit indexes. */
  readonly reader: Pick<ObjectReader, 'position'>;
};

/** Decodes watches of events, and stores the object types that each caller may read. */
export class EventWatches {
  readonly #dependencies: EventWatchesDependencies;
  readonly #scopes = new WeakMap<Selection, EventScope>();

  constructor(dependencies: EventWatchesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Decodes the parameters of a watch of events. The watch returns only events that the caller may read. */
  decode(request: WatchRequest, resumed: string | undefined): Decoded<WatchPlan> {
    const unavailable = this.#dependencies.audit.unavailable();
    if (unavailable !== undefined)
      return { ok: false, problem: problem('unavailable', unavailable, { retryAfterSeconds: 1 }) };
    const wrong = selectorProblem(request.query);
    if (wrong !== undefined) return { ok: false, problem: wrong };
    const plan = decodeWatchQuery(request, resumed);
    if (!plan.ok) return plan;
    const scope = scopeOf(request.subject, this.#dependencies);
    const fields = [...plan.value.selection.fields, ...(scope === undefined ? [] : [ofTypes(scope)])];
    const selection = { labels: [], fields };
    this.#scopes.set(selection, scope);
    return { ok: true, value: { ...plan.value, start: this.#startOf(plan.value.start), selection } };
  }

  /**
   * Returns the start of a watch. A watch that starts now begins after the position of the read models. A watch that
   * need not mark the end of the present events starts after `logStart`, because events never change.
   */
  #startOf(start: WatchStart): WatchStart {
    const folded = this.#dependencies.reader.position();
    switch (start.kind) {
      case 'after':
        return start;
      case 'now':
        return { kind: 'after', position: folded };
      case 'state': {
        if (!start.marksEnd) return { kind: 'after', position: logStart };
        const { notBefore = folded } = start;
        return { ...start, notBefore: notBefore > folded ? notBefore : folded };
      }
    }
  }

  /** Returns whether a watch that started now, with the rights in `allows`, would return the same events. */
  isCurrent({ subject, selection }: Watched, allows: AllowsResource): boolean {
    const { type } = this.#dependencies;
    if (!allows(subject, 'watch', { group: type.group, version: type.version, resource: type.plural })) return false;
    return isSameScope(this.#scopes.get(selection), scopeOf(subject, { ...this.#dependencies, allows }));
  }
}

function isSameScope(one: EventScope, other: EventScope): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((type, index) => type === other[index]);
}

function selectorProblem(query: URLSearchParams): Problem | undefined {
  const misnamed = checkParameterNames(query, { own: ['include'], isWatch: true, isStrict: true });
  if (misnamed !== undefined) return misnamed;
  const selector = decodeEventSelector(query);
  if (!selector.ok) return selector.problem;
  const [place] = selector.value.places;
  if (place !== undefined) {
    const detail = `fieldSelector: ${place.field} is supported for lists only; a watch starts at its resourceVersion`;
    return problem('bad-request', detail);
  }
  const misplaced = ['include', 'sort', 'continue'].find((name) => query.has(name));
  return misplaced === undefined
    ? undefined
    : problem('bad-request', `${misplaced}: is not a parameter of a watch of events`);
}
