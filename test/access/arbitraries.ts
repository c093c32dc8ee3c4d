import fc from 'fast-check';

import { asked } from './access-world.ts';
import type { RawBinding, RawRole, RawRule, Request, Who } from './oracle.ts';

/** Few words, so that they meet; among them every form that means something, and those that look as if they did. */
export const roleNames = [
  'view',
  'manage',
  'edit',
  'extra',
  'anonymous',
  'authenticated',
  'r1',
  'r2',
  'r3',
  'r4',
  'ghost',
] as const;
export const userNames = ['ann', 'bob', 'cy'] as const;
const prefix = 'rbac.authorization.svc.run/';

const verb = fc.constantFrom(
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  '*',
  'post',
);
const group = fc.constantFrom('', 'g.io', 'h.io', '*');
const resource = fc.constantFrom(
  'posts',
  'tags',
  '*',
  '*/status',
  'posts/*',
  'posts/status',
  'tags/status',
  'blog/posts',
  'blog/tags',
  'blog/posts/status',
  'blog/tags/*',
  '*/*',
  'po*',
  '*/posts',
  'posts/posts',
  '',
  '/posts',
  'a/b/c/d',
);
const name = fc.constantFrom('a', 'ab', 'abc', '-', '*', 'a*', '*b', 'a*c', 'a**', '**', 'ab*ab', 'x.y', '.');
const url = fc.constantFrom(
  '/healthz',
  '/healthz/*',
  '*',
  '/*',
  '/a/*/b',
  '/a*',
  '/a/*',
  '/apis',
  '/api',
  '/apis/*',
  '/apis/g.io/*',
  '/apis/g.io/v1/posts/*',
  '/apis/g.io/v1/posts/ab',
  'healthz',
  '/a/*/*',
  '/healthz/',
);

const few = <T>(entry: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> => fc.array(entry, { maxLength });
const some = <T>(entry: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> =>
  fc.array(entry, { minLength: 1, maxLength });

const resourceRule: fc.Arbitrary<RawRule> = fc.record({
  apiGroups: some(group, 2),
  resources: some(resource),
  verbs: some(verb, 4),
  resourceNames: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some(name) }),
});
const pathRule: fc.Arbitrary<RawRule> = fc.record({ nonResourceURLs: some(url), verbs: some(verb, 4) });
/** Anything left out or empty, both kinds in one. */
const oddRule: fc.Arbitrary<RawRule> = fc.record(
  {
    apiGroups: few(group),
    resources: few(resource),
    verbs: few(verb),
    resourceNames: few(name),
    nonResourceURLs: few(url),
  },
  { requiredKeys: [] },
);
export const rawRule: fc.Arbitrary<RawRule> = fc.oneof(
  { weight: 6, arbitrary: resourceRule },
  { weight: 3, arbitrary: pathRule },
  { weight: 1, arbitrary: oddRule },
);

/** One of `held` with some of its lists drawn anew: near enough to be within, often enough. */
export function ruleNear(held: readonly RawRule[]): fc.Arbitrary<RawRule> {
  return fc
    .tuple(
      fc.constantFrom(...held),
      rawRule,
      fc.subarray(['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const, { maxLength: 2 }),
    )
    .map(([rule, other, replacement]) => {
      const drawn = replacement
        .filter((list) => rule[list] !== undefined && other[list] !== undefined)
        .map((list) => [list, other[list]]);
      return { ...rule, ...(Object.fromEntries(drawn) as RawRule) };
    });
}

/** Some are malformed; roles depend on themselves, on each other, and on missing roles. */
const dependencies = fc.oneof(
  { weight: 6, arbitrary: few(fc.constantFrom(...roleNames), 2).map((names) => JSON.stringify(names)) },
  // Enough roles at once that their rules are remembered.
  { weight: 1, arbitrary: fc.constant(JSON.stringify(roleNames)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '[', 'view', '"view"', '["view", 1]', 'null', '{"view":true}', '["super-role"]'),
  },
);
const labels = fc.dictionary(
  fc.constantFrom(...roleNames).map((role) => `${prefix}aggregate-to-${role}`),
  fc.constantFrom('true', 'true', 'false', ''),
  { maxKeys: 2, noNullPrototype: true },
);

export function rawRole(named: string): fc.Arbitrary<RawRole> {
  return fc.record({
    name: fc.constant(named),
    rules: few(rawRule, 8),
    labels: fc.oneof(fc.constant({}), labels),
    annotations: fc.oneof(
      fc.constant({}),
      dependencies.map((text) => ({ [`${prefix}dependencies`]: text })),
    ),
  });
}

/** Rarely the role that may do all, and one that is not there. */
const boundRole = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...roleNames) },
  { weight: 1, arbitrary: fc.constantFrom('super-role', 'nowhere') },
);
export const rawBinding: fc.Arbitrary<RawBinding> = fc.record({
  role: boundRole,
  users: fc.array(fc.constantFrom(...userNames), { maxLength: 3 }),
});

export const who: fc.Arbitrary<Who> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ user: undefined }) },
  { weight: 4, arbitrary: fc.constantFrom(...userNames).map((user) => ({ user })) },
  {
    weight: 2,
    arbitrary: fc.record({
      user: fc.constantFrom(...userNames),
      tokenRoles: fc.array(fc.constantFrom(...roleNames, 'super-role'), { maxLength: 3 }),
    }),
  },
);

const places = ['/apis/g.io/v1/posts', '/apis/h.io/v1/posts', '/apis/g.io/v2/tags', '/api/v1/posts', '/api/v1/tags'];
const tails = ['', '/a', '/ab', '/abc', '/-', '/a/status', '/ab/posts', '/-/status', '/x.y', '/aab', '/%2A', '/ab/%2A'];
const queries = ['?fieldSelector=metadata.name=ab', '?fieldSelector=metadata.name%21=ab', '?labelSelector=a=b'];
const paths = [
  '/healthz',
  '/healthz/x',
  '/healthz/x/y',
  '/',
  '/a',
  '/a/x',
  '/a/x/b',
  '/a/%2A/b',
  '/a%2A',
  '/apis',
  '/apis/g.io',
  '/apis/g.io/v1',
  '/api',
  '/api/v1',
  '/apis/g.io/v1/posts/ab/status/deep',
  '/apis/g.io/v1/posts/ab/status/deep/er',
  '/other',
];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Every request there is to these words, as the server reads it. */
export const allRequests: readonly Request[] = methods
  .flatMap((method) => [
    ...places.flatMap((place) =>
      [...tails, ...queries].flatMap((tail) => [
        `${method} ${place}${tail}`,
        ...(method === 'GET' ? [`GET ${place}${tail} watch`] : []),
      ]),
    ),
    ...paths.map((path) => `${method} ${path}`),
  ])
  .map(asked);

export const request = fc.constantFrom(...allRequests);
export const plugin = fc.constantFrom(undefined, 'blog', 'blog', 'posts', '*');
