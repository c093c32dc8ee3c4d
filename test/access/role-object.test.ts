import { test } from 'tap';

import { roleOf } from '../../src/access/role-object.ts';
import { roleListEntriesMax } from '../../src/limits/access.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';

const prefix = 'rbac.authorization.svc.run/';

function role(members: {
  readonly labels?: unknown;
  readonly annotations?: unknown;
  readonly rules?: unknown;
}): ResourceObject {
  const { rules, ...metadata } = members;
  return {
    apiVersion: 'v1alpha1',
    kind: 'Role',
    rules,
    metadata: {
      name: 'r',
      uid: 'u',
      version: 0,
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00.000Z',
      ...(metadata as object),
    },
  };
}

test('a role is read with its labels and annotations (seed 2.7)', (t) => {
  t.strictSame(
    roleOf(
      role({
        labels: {
          'svc.run/role-template': 'true',
          'svc.run/hidden': 'true',
          [`${prefix}aggregate-to-guest`]: 'true',
          [`${prefix}aggregate-to-other`]: 'false',
          [`${prefix}aggregate-to-`]: 'true',
          'example.com/aggregate-to-x': 'true',
        },
        annotations: {
          [`${prefix}dependencies`]: '["view"]',
          [`${prefix}ui-permissions`]: '["plugin:p:a:b"]',
          [`${prefix}module`]: 'Posts',
          [`${prefix}display-name`]: 'Post Manage',
        },
        rules: [
          { apiGroups: ['g'], resources: ['r'], verbs: ['get'] },
          { nonResourceURLs: ['/x'], verbs: ['*'] },
        ],
      }),
      'svc.run',
    ),
    {
      name: 'r',
      rules: [
        { kind: 'resource', apiGroups: ['g'], resources: ['r'], resourceNames: undefined, verbs: ['get'] },
        { kind: 'non-resource', nonResourceURLs: ['/x'], verbs: ['*'] },
      ],
      dependencies: ['view'],
      aggregatesTo: ['guest'],
      uiPermissions: ['plugin:p:a:b'],
      module: 'Posts',
      displayName: 'Post Manage',
      isTemplate: true,
      isHidden: true,
      malformed: [],
    },
  );
  t.end();
});

test('the keys are those of the platform domain', (t) => {
  const { isTemplate, aggregatesTo, dependencies } = roleOf(
    role({
      labels: { 'svc.run/role-template': 'true', [`${prefix}aggregate-to-guest`]: 'true' },
      annotations: { [`${prefix}dependencies`]: '["view"]' },
    }),
    'other.example',
  );
  t.strictSame({ isTemplate, aggregatesTo, dependencies }, { isTemplate: false, aggregatesTo: [], dependencies: [] });
  t.end();
});

test('a malformed annotation counts as empty and is named (decision 6.6)', (t) => {
  for (const text of ['', 'view', '["view"', '"view"', '{"0":"view"}', '["view", 1]', 'null']) {
    const { dependencies, malformed } = roleOf(
      role({ annotations: { [`${prefix}dependencies`]: text, [`${prefix}ui-permissions`]: '[]' } }),
      'svc.run',
    );
    t.strictSame(dependencies, [], text);
    t.strictSame(
      malformed.map(({ key }) => key),
      [`${prefix}dependencies`],
      text,
    );
  }
  const { uiPermissions, malformed } = roleOf(
    role({ annotations: { [`${prefix}ui-permissions`]: '[1]', [`${prefix}module`]: 7 } }),
    'svc.run',
  );
  t.strictSame([uiPermissions, malformed.length], [[], 2]);
  t.end();
});

test('as many dependencies as are followed are read, and more are malformed', (t) => {
  const names = Array.from({ length: roleListEntriesMax + 1 }, (_name, at) => `r${String(at)}`);
  const read = (count: number) =>
    roleOf(role({ annotations: { [`${prefix}dependencies`]: JSON.stringify(names.slice(0, count)) } }), 'svc.run');
  t.equal(read(roleListEntriesMax).dependencies.length, roleListEntriesMax);
  t.equal(read(roleListEntriesMax + 1).dependencies.length, 0);
  t.equal(read(roleListEntriesMax + 1).malformed.length, 1);
  t.end();
});

test('a rule that cannot be read is none: it never widens', (t) => {
  const whole = { apiGroups: ['g'], resources: ['r'], verbs: ['get'] };
  for (const broken of [
    null,
    'x',
    [],
    { ...whole, resourceNames: [5] },
    { ...whole, resourceNames: 'a' },
    { ...whole, verbs: 'get' },
    { ...whole, apiGroups: [''], resources: [{}] },
    { nonResourceURLs: '/x', verbs: ['*'] },
  ]) {
    t.strictSame(
      roleOf(role({ rules: [broken].filter((rule) => !Array.isArray(rule)) }), 'svc.run').rules,
      [],
      JSON.stringify(broken),
    );
  }
  for (const rules of [undefined, null, {}, 'x'])
    t.strictSame(roleOf(role({ rules }), 'svc.run').rules, [], JSON.stringify(rules));
  t.end();
});

test('empty resourceNames count as not given, and a rule with resources and paths is of resources alone', (t) => {
  const { rules } = roleOf(
    role({
      rules: [{ apiGroups: ['g'], resources: ['r'], resourceNames: [], nonResourceURLs: ['*'], verbs: ['get'] }],
    }),
    'svc.run',
  );
  t.strictSame(rules, [
    { kind: 'resource', apiGroups: ['g'], resources: ['r'], resourceNames: undefined, verbs: ['get'] },
  ]);
  t.end();
});
