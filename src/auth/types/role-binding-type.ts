import { isObject } from '../../base/guards.ts';
import type { Strategy } from '../../command/strategy.ts';
import { roleBindingSubjectsMax } from '../../limits/access.ts';
import { defineType, type PluginObject, type TypeDeclaration } from '../../plugin/api/plugin.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import { core, membersAt, nameSchema, subjectNameSchema } from './type-members.ts';

type RoleBinding = PluginObject & { readonly subjects: readonly { readonly name: string }[] };

const apiGroup = { const: '', description: 'The core group; set by the server when absent.' } as const;

/** Binds users to a role (seed 2.9). */
export const roleBindingType: TypeDeclaration<never> = defineType<RoleBinding>({
  ...core,
  kind: 'RoleBinding',
  singular: 'rolebinding',
  plural: 'rolebindings',
  schema: {
    type: 'object',
    description: 'Grants the rules of a role to users.',
    required: ['roleRef', 'subjects'],
    properties: {
      roleRef: {
        type: 'object',
        description: 'The role.',
        required: ['kind', 'name'],
        additionalProperties: false,
        properties: {
          apiGroup,
          kind: { const: 'Role', description: 'Always Role.' },
          name: { ...nameSchema, description: 'The name of an existing role.' },
        },
      },
      subjects: {
        type: 'array',
        description: 'The users.',
        minItems: 1,
        maxItems: roleBindingSubjectsMax,
        items: {
          type: 'object',
          required: ['kind', 'name'],
          additionalProperties: false,
          properties: {
            apiGroup,
            kind: { const: 'User', description: 'Always User.' },
            name: subjectNameSchema,
          },
        },
      },
    },
  },
  indexes: [
    { name: 'roleRef.name' },
    { name: 'subjects.name', multi: true, indexFunc: (object) => object.subjects.map(({ name }) => name) },
  ],
  printerColumns: [
    { name: 'Role', type: 'string', pointer: '/roleRef/name' },
    { name: 'User', type: 'string', pointer: '/subjects/0/name', description: 'The first user of the binding.' },
  ],
});

export const roleBindingStrategy: Strategy = {
  complete: ({ after }) => {
    const { subjects } = after;
    const named = Array.isArray(subjects)
      ? subjects.filter(isObject).map((subject) => ({ apiGroup: '', ...subject }))
      : [];
    return {
      ok: true,
      object: {
        ...after,
        roleRef: { apiGroup: '', ...membersAt(after, 'roleRef') },
        subjects: named,
      },
    };
  },
};

export function roleNameOf(binding: ResourceObject): string {
  const { name } = membersAt(binding, 'roleRef');
  return typeof name === 'string' ? name : '';
}

export function userNamesOf({ subjects }: ResourceObject): readonly string[] {
  return Array.isArray(subjects)
    ? subjects
        .filter(isObject)
        .map(({ name }) => name)
        .filter((name) => typeof name === 'string')
    : [];
}
