import type { Propagation } from '../../command/propagation.ts';
import { violationsText } from '../../command/refuse.ts';
import { assignedRolesMax, passwordLengthMin, previewedRequestsMax, previewedRolesMax } from '../../limits/access.ts';
import { previewedDeletionsMax } from '../../limits/objects.ts';
import type { Violation } from '../../resource/type/resource-type.ts';
import { compileSchema } from '../../resource/schema/schema.ts';
import type { Decoded } from '../resources/decode-list-query.ts';
import type { JsonMembers } from '../resources/decode-write.ts';
import { problem, type Problem } from '../problem.ts';

export type PasswordChange = {
  readonly currentPassword: string;
  readonly password: string;
};

export const decodePasswordChange = decoder<PasswordChange>('the password change', {
  type: 'object',
  properties: { currentPassword: { type: 'string' }, password: { type: 'string', minLength: passwordLengthMin } },
  required: ['currentPassword', 'password'],
});

export type RoleAssignment = { readonly roles: readonly string[] };

export const decodeRoleAssignment = decoder<RoleAssignment>('the assignment', {
  type: 'object',
  properties: { roles: { type: 'array', maxItems: assignedRolesMax, items: { type: 'string' } } },
  required: ['roles'],
});

export type ResourceAttributes = {
  readonly verb: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
};
export type NonResourceAttributes = {
  readonly path: string;
  readonly verb: string;
};

/** The request that a review checks: exactly one of the two kinds of attributes. */
export type ReviewedAttributes =
  { readonly resourceAttributes: ResourceAttributes } | { readonly nonResourceAttributes: NonResourceAttributes };

type AccessReview = {
  readonly spec: {
    readonly user?: string;
    readonly resourceAttributes?: ResourceAttributes | null;
    readonly nonResourceAttributes?: NonResourceAttributes | null;
  };
};

const text = { type: 'string' };
const word = { type: 'string', minLength: 1 };
const attributes = {
  resourceAttributes: {
    type: ['object', 'null'],
    properties: {
      verb: word,
      group: text,
      version: text,
      resource: word,
      subresource: text,
      name: text,
    },
    required: ['verb', 'resource'],
  },
  nonResourceAttributes: {
    type: ['object', 'null'],
    properties: { path: { type: 'string', pattern: '^/' }, verb: word },
    required: ['path', 'verb'],
  },
};
const ownAccess = decoder<AccessReview>('the review', {
  type: 'object',
  additionalProperties: true,
  properties: { spec: { type: 'object', properties: attributes } },
  required: ['spec'],
});
const othersAccess = decoder<AccessReview & { readonly spec: { readonly user: string } }>('the review', {
  type: 'object',
  additionalProperties: true,
  properties: {
    spec: {
      type: 'object',
      properties: { ...attributes, user: word },
      required: ['user'],
    },
  },
  required: ['spec'],
});

export function decodeOwnAccessReview(body: JsonMembers): Decoded<ReviewedAttributes> {
  const decoded = ownAccess(body);
  return decoded.ok ? reviewedAttributes(decoded.value) : decoded;
}

type ReviewedAccess = {
  readonly user: string;
  readonly attributes: ReviewedAttributes;
};

export function decodeAccessReview(body: JsonMembers): Decoded<ReviewedAccess> {
  const decoded = othersAccess(body);
  if (!decoded.ok) return decoded;
  const reviewed = reviewedAttributes(decoded.value);
  return reviewed.ok ? { ok: true, value: { user: decoded.value.spec.user, attributes: reviewed.value } } : reviewed;
}

export function reviewedAttributes({
  spec: { resourceAttributes = null, nonResourceAttributes = null },
}: AccessReview): Decoded<ReviewedAttributes> {
  if (resourceAttributes !== null && nonResourceAttributes === null) return { ok: true, value: { resourceAttributes } };
  if (resourceAttributes === null && nonResourceAttributes !== null)
    return { ok: true, value: { nonResourceAttributes } };
  return {
    ok: false,
    problem: invalidBody('the review', [
      { pointer: '/spec', detail: 'must have exactly one of resourceAttributes and nonResourceAttributes' },
    ]),
  };
}

/** A question about the access of a user or of a role, now and after proposed changes. */
export type AccessPreview = {
  readonly user?: string;
  readonly role?: string;
  readonly requests?: readonly AccessReview['spec'][];
  /** Whether to list the allowed verbs of all types, or of the types of one group. */
  readonly matrix?: boolean;
  readonly group?: string;
  readonly proposed?: {
    /** Roles that are added, or replace the stored roles of these names. */
    readonly roles?: readonly ProposedRole[];
    readonly removedRoles?: readonly string[];
    /** The roles that are bound to the user, in place of the stored bindings. */
    readonly boundRoles?: readonly string[];
  };
};
export type ProposedRole = JsonMembers & { readonly metadata: { readonly name: string } };

const names = (maxItems: number): object => ({ type: 'array', maxItems, items: word });
export const decodeAccessPreview = decoder<AccessPreview>('the preview', {
  type: 'object',
  additionalProperties: false,
  properties: {
    user: word,
    role: word,
    requests: {
      type: 'array',
      maxItems: previewedRequestsMax,
      items: { type: 'object', additionalProperties: false, properties: attributes },
    },
    matrix: { type: 'boolean' },
    group: text,
    proposed: {
      type: 'object',
      additionalProperties: false,
      properties: {
        roles: {
          type: 'array',
          maxItems: previewedRolesMax,
          items: {
            type: 'object',
            additionalProperties: true,
            properties: {
              metadata: { type: 'object', additionalProperties: true, properties: { name: word }, required: ['name'] },
            },
            required: ['metadata'],
          },
        },
        removedRoles: names(previewedRolesMax),
        boundRoles: names(assignedRolesMax),
      },
    },
  },
});

/** Deletions to preview: the names of objects of one type. */
export type DeletionPreview = {
  /** The core group if absent. */
  readonly group?: string;
  /** The plural name of the type. */
  readonly resource: string;
  readonly names: readonly string[];
  readonly propagationPolicy?: Propagation;
};

export const decodeDeletionPreview = decoder<DeletionPreview>('the preview', {
  type: 'object',
  additionalProperties: false,
  properties: {
    group: text,
    resource: word,
    names: { ...names(previewedDeletionsMax), minItems: 1 },
    propagationPolicy: { enum: ['Background', 'Foreground', 'Orphan'] },
  },
  required: ['resource', 'names'],
});

export function invalidBody(title: string, violations: readonly Violation[]): Problem {
  return problem('invalid', `${title} is invalid: ${violationsText(violations)}`, { violations });
}

function decoder<T>(title: string, schema: object): (body: JsonMembers) => Decoded<T> {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(compiled.problems.join('; '));
  return (body) => {
    const violations = compiled.violations(body);
    return violations.length === 0
      ? { ok: true, value: body as T }
      : { ok: false, problem: invalidBody(title, violations) };
  };
}
