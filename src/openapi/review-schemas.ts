import type { Schema } from '../resource/schema/schema-check.ts';
import { flag, object, text, textMap, texts } from './described.ts';
import { referenceTo, type GroupVersionKind } from './names.ts';
import { objectMeta } from './standard-schemas.ts';

/**
 * A review kind of Kubernetes, such as `SubjectAccessReview`. A client sends an object of this kind, and receives the
 * object with the result.
 */
export type ReviewDescription = GroupVersionKind & {
  readonly summary: string;
  /** The members of the spec; undefined for a review without a spec. */
  readonly spec: Readonly<Record<string, Schema>> | undefined;
  readonly status: Schema;
};

const lists = (description: string, items: Schema): Schema => ({ type: 'array', items, description });

const requirement = object('A requirement of a selector.', {
  key: text('The label or field.'),
  operator: text('The comparison.'),
  values: texts('The values to compare with.'),
});
const selector = (what: string): Schema =>
  object(`Ignored: rights do not depend on ${what}.`, {
    rawSelector: text('The selector as one text.'),
    requirements: lists('The requirements of the selector.', requirement),
  });

const attributes = {
  resourceAttributes: object(
    'A request for a resource. Either resourceAttributes or nonResourceAttributes are required.',
    {
      verb: text('The verb: get, list, watch, create, update, patch, delete or deletecollection.'),
      group: text('The group; empty for the core group.'),
      version: text('The version. An empty version or * means any version.'),
      resource: text('The resource, such as widgets.'),
      subresource: text('The subresource, such as status; empty for the object itself.'),
      name: text('The name of the object. An empty name means any object.'),
      namespace: text('Ignored: objects have no namespace.'),
      fieldSelector: selector('fields'),
      labelSelector: selector('labels'),
    },
    ['verb', 'resource'],
  ),
  nonResourceAttributes: object(
    'A request for another path.',
    { path: text('The path, which begins with /.'), verb: text('The verb, or the method in lower case.') },
    ['path', 'verb'],
  ),
};

const resourceRule = {
  apiGroups: texts('The groups; * means all.'),
  resources: texts('The resources, such as widgets, and subresources, such as widgets/status; * means all.'),
  resourceNames: texts('The names of objects. If absent, the rule applies to all objects.'),
  verbs: texts('The verbs; * means all.'),
};
const nonResourceRule = {
  nonResourceURLs: texts('The paths. A trailing * means all paths below.'),
  verbs: texts('The verbs or methods; * means all.'),
};

const decision = object('The result.', {
  allowed: flag('Whether the request is allowed.'),
  reason: text('The rule that allows the request; otherwise the reason why the request is not allowed.'),
  grant: object('The rule that allows the request; absent if no rule allows the request.', {
    role: text('The name of the role with the rule.'),
    rule: object('The rule.', { ...resourceRule, ...nonResourceRule }),
  }),
});

const authorization = { group: 'authorization.k8s.io', version: 'v1' };

export const ownAccessDescription: ReviewDescription = {
  ...authorization,
  kind: 'SelfSubjectAccessReview',
  summary: 'Whether the caller may make a request',
  spec: attributes,
  status: decision,
};
export const accessDescription: ReviewDescription = {
  ...authorization,
  kind: 'SubjectAccessReview',
  summary: 'Whether a user may make a request',
  spec: {
    ...attributes,
    user: text('The name of the user. Required.'),
    groups: texts('Ignored: users have roles instead of groups.'),
    extra: { ...textMap('Ignored.'), additionalProperties: { type: 'array', items: { type: 'string' } } },
    uid: text('Ignored: the name identifies the user.'),
  },
  status: decision,
};
export const ownRulesDescription: ReviewDescription = {
  ...authorization,
  kind: 'SelfSubjectRulesReview',
  summary: 'The rules of the caller',
  spec: { namespace: text('Ignored: objects have no namespace.') },
  status: object('The result.', {
    resourceRules: lists('The rules for resources.', object('A rule for resources.', resourceRule)),
    nonResourceRules: lists('The rules for other paths.', object('A rule for other paths.', nonResourceRule)),
    incomplete: flag('Whether rules are missing. Always false.'),
  }),
};
export const ownIdentityDescription: ReviewDescription = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  summary: 'The caller',
  spec: undefined,
  status: object('The result.', {
    userInfo: object('The caller.', {
      username: text('The name.'),
      uid: text('The uid of the User; absent for users of an identity provider.'),
      groups: texts('system:authenticated; system:unauthenticated for a visitor.'),
    }),
  }),
};

const descriptions = [ownAccessDescription, accessDescription, ownRulesDescription, ownIdentityDescription];

/** The descriptions by path. A client creates a review with a POST to the path. */
export const reviewsByPath: ReadonlyMap<string, ReviewDescription> = new Map(
  descriptions.map((review) => [`/apis/${review.group}/${review.version}/${review.kind.toLowerCase()}s`, review]),
);

/** Returns Kubernetes' own name of the schema, such as `io.k8s.api.authorization.v1.SelfSubjectAccessReview`. */
export function reviewSchemaName({ group, version, kind }: GroupVersionKind): string {
  return `io.k8s.api.${group.replace('.k8s.io', '')}.${version}.${kind}`;
}

export function reviewSchema({ summary, spec, status, ...gvk }: ReviewDescription): Schema {
  const { group, version, kind } = gvk;
  const schema = object(
    `${summary}. A review is decided immediately and not stored.`,
    {
      apiVersion: text(`${group}/${version}; added if omitted.`),
      kind: text(`${kind}; added if omitted.`),
      metadata: { allOf: [referenceTo(objectMeta)], description: 'Ignored.' },
      ...(spec === undefined ? {} : { spec: object('The question.', spec) }),
      status: { ...status, readOnly: true },
    },
    spec === undefined || kind === 'SelfSubjectRulesReview' ? undefined : ['spec'],
  );
  return { ...schema, 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
}
