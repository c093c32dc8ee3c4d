import { isObject } from '../../base/guards.ts';
import { roleOf } from '../../access/role-object.ts';
import type { Role } from '../../access/role.ts';
import type { Strategy } from '../../command/strategy.ts';
import { roleRulesMax, ruleEntriesMax, ruleTextLengthMax } from '../../limits/access.ts';
import { nameLengthMax } from '../../limits/objects.ts';
import type { TypeDeclaration } from '../../plugin/api/plugin.ts';
import { conditionMembers } from '../../resource/schema/condition-schema.ts';
import { core, membersAt, withStatus, type Members } from './type-members.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch', '*'] as const;
/** HTTP methods that a non-resource rule may contain in addition to verbs (decision 6.4). */
const methods = ['head', 'options', 'post', 'put'] as const;

function texts(items: Members): Members {
  return { type: 'array', maxItems: ruleEntriesMax, items: { type: 'string', ...items } };
}

/** A resource rule or a non-resource rule (seed 2.8). A rule of both kinds is refused. */
const ruleSchema = {
  type: 'object',
  required: ['verbs'],
  additionalProperties: false,
  properties: {
    apiGroups: {
      ...texts({ maxLength: nameLengthMax }),
      description: 'The API groups; "" is the core group, * matches all.',
    },
    resources: {
      ...texts({ minLength: 1, maxLength: ruleTextLengthMax }),
      minItems: 1,
      description: 'The resources: R, R/S, *, */S or R/*; P/R or P/R/S limits the rule to the plugin P.',
    },
    resourceNames: {
      ...texts({ minLength: 1, maxLength: nameLengthMax, pattern: '^[^*]*(?:\\*[^*]*)?$' }),
      description: 'The names of objects, each with at most one *; all names when absent.',
    },
    nonResourceURLs: {
      ...texts({ maxLength: ruleTextLengthMax, pattern: '^(?:\\*|/.*)$' }),
      minItems: 1,
      description: 'The paths; a * at the end matches every rest of a path.',
    },
    verbs: { ...texts({}), minItems: 1, description: 'The verbs that the rule allows; * matches all.' },
  },
  if: { required: ['nonResourceURLs'] },
  then: {
    properties: {
      apiGroups: false,
      resources: false,
      resourceNames: false,
      verbs: { items: { enum: [...verbs, ...methods] } },
    },
  },
  else: { required: ['resources'], properties: { verbs: { items: { enum: verbs } } } },
} as const;

/** Roles (seed 2.7). The rules are at the top level, not in a spec. */
export const roleType: TypeDeclaration<never> = {
  ...core,
  kind: 'Role',
  singular: 'role',
  plural: 'roles',
  statusSubresource: true,
  schema: {
    type: 'object',
    description: 'A set of rules that bindings grant to users.',
    properties: {
      rules: {
        type: 'array',
        maxItems: roleRulesMax,
        items: ruleSchema,
        description: 'The requests that the role allows; none when absent.',
      },
      status: {
        type: 'object',
        description: 'The state of the role, set by the platform.',
        properties: {
          conditions: {
            type: 'array',
            readOnly: true,
            description:
              'Valid: the annotations are well-formed. Complete: every role that the annotations name exists.',
            items: {
              type: 'object',
              properties: conditionMembers,
            },
          },
        },
      },
    },
  },
  printerColumns: [{ name: 'Valid', type: 'string', pointer: '/status/conditions/0/status', priority: 1 }],
};

/**
 * The condition `Valid` reports whether the annotations are well-formed. A malformed annotation is treated as empty
 * (decision 6.6). The condition `Complete` comes from a reconciler.
 */
export function roleStrategy(domain: string): Strategy {
  return {
    complete: ({ before, after, subject, now }) => {
      const condition = conditionOf(roleOf(after, domain));
      const stored = roleCondition(before, 'Valid');
      // Only the platform writes `Complete`.
      const complete = roleCondition(subject.kind === 'platform' ? after : before, 'Complete');
      const others = Object.keys(complete).length === 0 ? [] : [complete];
      const lastTransitionTime =
        stored['status'] === condition.status && typeof stored['lastTransitionTime'] === 'string'
          ? stored['lastTransitionTime']
          : now;
      return { ok: true, object: withStatus(after, { conditions: [{ ...condition, lastTransitionTime }, ...others] }) };
    },
  };
}

function conditionOf({ malformed }: Role): {
  readonly type: 'Valid';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
} {
  if (malformed.length === 0)
    return { type: 'Valid', status: 'True', reason: 'WellFormed', message: 'the annotations are well-formed' };
  return {
    type: 'Valid',
    status: 'False',
    reason: 'MalformedAnnotation',
    message: malformed.map(({ key, detail }) => `${key}: ${detail}`).join('; '),
  };
}

/** Returns the condition of this type in the role's status; an empty object without the condition. */
export function roleCondition(role: Members | undefined, type: 'Valid' | 'Complete'): Members {
  const { conditions } = membersAt(role, 'status');
  return (
    (Array.isArray(conditions) ? conditions.filter(isObject) : []).find((condition) => condition['type'] === type) ?? {}
  );
}
