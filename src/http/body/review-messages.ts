import { nested, strings, text, type KubernetesMessage } from './kubernetes-message.ts';
import type { MessageShape } from './decode-message.ts';

/** A kind of review that clients create, with its protobuf form. */
export type Review = KubernetesMessage & { readonly apiVersion: string };

const resourceAttributes: MessageShape = {
  1: text('namespace'),
  2: text('verb'),
  3: text('group'),
  4: text('version'),
  5: text('resource'),
  6: text('subresource'),
  7: text('name'),
};
const attributes: MessageShape = {
  1: nested('resourceAttributes', resourceAttributes),
  2: nested('nonResourceAttributes', { 1: text('path'), 2: text('verb') }),
};
const authorization = 'authorization.k8s.io/v1';

/** The protobuf forms of reviews. The metadata and status of a request are ignored. */
export const ownAccessReview: Review = {
  kind: 'SelfSubjectAccessReview',
  apiVersion: authorization,
  shape: { 2: nested('spec', attributes) },
};
export const accessReview: Review = {
  kind: 'SubjectAccessReview',
  apiVersion: authorization,
  shape: {
    2: nested('spec', {
      ...attributes,
      3: text('user'),
      4: strings('groups'),
      6: text('uid'),
    }),
  },
};
export const ownRulesReview: Review = {
  kind: 'SelfSubjectRulesReview',
  apiVersion: authorization,
  shape: { 2: nested('spec', { 1: text('namespace') }) },
};
export const ownIdentityReview: Review = {
  kind: 'SelfSubjectReview',
  apiVersion: 'authentication.k8s.io/v1',
  shape: {},
};
