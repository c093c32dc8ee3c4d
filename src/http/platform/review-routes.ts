import { everything } from '../../access/role-aggregation.ts';
import { subjectNamed } from '../../auth/authorization/named-subject.ts';
import type { Authorize } from '../../auth/authorization/authorize.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { actorOf, visitor, type Subject } from '../../command/subject.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import { jsonAnswer, refusal, type Answer } from '../answer.ts';
import type { Decoded } from '../resources/decode-list-query.ts';
import { decodeAccessReview, decodeOwnAccessReview, type ReviewedAttributes } from '../body/decode-request-body.ts';
import { writeContext, type JsonMembers } from '../resources/decode-write.ts';
import type { ApiResource } from '../discovery/api-catalog.ts';
import type { Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem, warningHeaders } from '../problem.ts';
import { explainGrant, explainRefusal, reviewedRequest, shownRule } from './reviewed-request.ts';
import { readObject } from '../body/read-object.ts';
import { knownBody } from '../body/review-members.ts';
import {
  accessReview,
  ownAccessReview,
  ownIdentityReview,
  ownRulesReview,
  type Review,
} from '../body/review-messages.ts';

export type ReviewRoutesDependencies = {
  readonly registry: TypeRegistry;
  readonly permissions: PermissionReader;
  readonly authorize: Authorize;
};

type Status = Readonly<Record<string, unknown>>;

/**
 * Creates the routes of Kubernetes' access reviews, which are not stored. The authorizer that checks requests also
 * answers the reviews.
 */
export function reviewRoutes(dependencies: ReviewRoutesDependencies): readonly PlatformRoute[] {
  const reviewer = new Reviewer(dependencies);
  const route = (review: Review, answer: (body: JsonMembers, subject: Subject) => Decoded<Status>): PlatformRoute => ({
    method: 'POST',
    path: `/apis/${review.apiVersion}/${review.kind.toLowerCase()}s`,
    resource: resourceOf(review),
    route: async (_params, exchange) => reviewed(exchange, review, answer),
  });
  return [
    route(ownAccessReview, (body, subject) => {
      const review = decodeOwnAccessReview(body);
      return review.ok ? { ok: true, value: reviewer.access(subject, review.value) } : review;
    }),
    route(accessReview, (body) => {
      const review = decodeAccessReview(body);
      return review.ok ? { ok: true, value: reviewer.accessOf(review.value.user, review.value.attributes) } : review;
    }),
    route(ownRulesReview, (_body, subject) => ({ ok: true, value: reviewer.rules(subject) })),
    route(ownIdentityReview, (_body, subject) => ({ ok: true, value: reviewer.identity(subject) })),
  ];
}

/** Returns the resource of a review, for discovery. */
function resourceOf({ apiVersion, kind }: Review): ApiResource {
  const [group = '', version = ''] = apiVersion.split('/');
  const singular = kind.toLowerCase();
  return {
    group,
    version,
    plural: `${singular}s`,
    singular,
    kind,
    verbs: ['create'],
    subresources: [],
  };
}

async function reviewed(
  exchange: Exchange,
  review: Review,
  answer: (body: JsonMembers, subject: Subject) => Decoded<Status>,
): Promise<Answer> {
  const { apiVersion, kind } = review;
  const read = await readObject(exchange, review);
  if (!read.ok) return read.answer;
  for (const [member, expected] of [
    ['apiVersion', apiVersion],
    ['kind', kind],
  ] as const) {
    const given = read.value[member] ?? '';
    if (given !== '' && given !== expected)
      return refusal(problem('bad-request', `the body's ${member} must be ${JSON.stringify(expected)} here`));
  }
  const context = writeContext(exchange);
  if (!context.ok) return refusal(context.problem);
  const known = knownBody(kind, read.value, context.value.fieldValidation);
  if (!known.ok) return refusal(known.problem);
  const { body, warnings } = known.value;
  const headers = warningHeaders(warnings);
  const status = answer(body, exchange.subject);
  if (!status.ok) return refusal({ ...status.problem, headers });
  const { spec } = body;
  return jsonAnswer(
    {
      kind,
      apiVersion,
      metadata: { creationTimestamp: null },
      ...(spec === undefined ? {} : { spec }),
      status: status.value,
    },
    201,
    headers,
  );
}

class Reviewer {
  readonly #dependencies: ReviewRoutesDependencies;

  constructor(dependencies: ReviewRoutesDependencies) {
    this.#dependencies = dependencies;
  }

  access(subject: Subject, attributes: ReviewedAttributes): Status {
    const { authorize, registry, permissions } = this.#dependencies;
    const access = authorize(subject, reviewedRequest(registry, attributes));
    if (!access.allowed) return { allowed: false, reason: access.idle ?? this.#refusal(subject) };
    const { grant } = access;
    if (grant === undefined) return { allowed: true, reason: 'allowed without a rule' };
    return {
      allowed: true,
      reason: explainGrant(grant, permissions.role(grant.role)),
      grant: { role: grant.role, rule: shownRule(grant.rule) },
    };
  }

  /** Reviews the access of a user. Nothing is allowed for a disabled user, because such a user cannot make requests. */
  accessOf(name: string, attributes: ReviewedAttributes): Status {
    const { permissions } = this.#dependencies;
    if (name === actorOf(visitor)) return this.access(visitor, attributes);
    if (permissions.user(name)?.isDisabled === true)
      return { allowed: false, reason: `the user ${JSON.stringify(name)} is disabled` };
    return this.access(subjectNamed(permissions, name), attributes);
  }

  rules(subject: Subject): Status {
    const rights = this.#dependencies.permissions.rightsOf(subject);
    const rules = rights.isSuperAdministrator ? everything : rights.rules();
    return {
      resourceRules: rules.filter(({ kind }) => kind === 'resource').map(shownRule),
      nonResourceRules: rules.filter(({ kind }) => kind === 'non-resource').map(shownRule),
      incomplete: false,
    };
  }

  identity(subject: Subject): Status {
    const name = actorOf(subject);
    const uid = this.#dependencies.permissions.user(name)?.uid;
    const groups = [subject.kind === 'visitor' ? 'system:unauthenticated' : 'system:authenticated'];
    return { userInfo: { username: name, ...(uid === undefined ? {} : { uid }), groups } };
  }

  #refusal(subject: Subject): string {
    const { permissions } = this.#dependencies;
    if (!permissions.isReady()) return 'the permission tables are not ready';
    return explainRefusal(permissions.rightsOf(subject).roles);
  }
}
