import fc from 'fast-check';
import { test } from 'tap';

import { bindingName, replaceBindings } from '../../../src/auth/authorization/user-bindings.ts';
import { actorOf } from '../../../src/command/subject.ts';
import type { WriteContext } from '../../../src/command/command.ts';
import type { Execute } from '../../../src/write/execute.ts';
import { nameLengthMax } from '../../../src/limits/objects.ts';
import type { ListQuery } from '../../../src/resource/query/list-query.ts';
import { nameProblem } from '../../../src/resource/type/names.ts';
import { Access, binding, platform, role, rule, user } from '../../support/access.ts';
import { shown } from '../../support/writing.ts';

const roles = ['first', 'second', 'third', 'fourth'];

async function opened(t: Parameters<typeof Access.open>[0]): Promise<Access> {
  const access = await Access.open(t);
  await access.given(...roles.map((name) => role(name, [rule('get', name)])), user('alice'), user('bob'));
  return access;
}

const everything: ListQuery = { selection: { labels: [], fields: [] }, sort: [], window: { kind: 'all' } };
const context: WriteContext = {
  cause: { actor: actorOf(platform), verb: 'create', requestId: 'r' },
  dryRun: false,
  fieldValidation: undefined,
  origin: 'client',
  subject: platform,
};

async function assign(
  access: Access,
  name: string,
  wanted: readonly string[],
  { execute = access.execute, ...changes }: Partial<WriteContext> & { readonly execute?: Execute } = {},
): Promise<string> {
  const ports = { reader: access.models, execute, type: access.type('rolebindings'), clock: access.clock };
  const outcome = await access.settle(replaceBindings(name, wanted, { ports, context: { ...context, ...changes } }));
  return outcome.ok ? 'ok' : outcome.rejection.reason;
}

const runs = Number(process.env['PBT_RUNS'] ?? 60);
const seed = process.env['PBT_SEED'] === undefined ? {} : { seed: Number(process.env['PBT_SEED']) };

const users = ['alice', 'bob', 'oidc:Zoë <z@example.com>'];
const anyStep = fc.oneof(
  fc.record({ kind: fc.constant('assign' as const), user: fc.nat({ max: 2 }), roles: fc.subarray(roles) }),
  fc.record({
    kind: fc.constant('bind' as const),
    role: fc.constantFrom(...roles),
    users: fc.subarray([0, 1, 2], { minLength: 1 }),
  }),
  fc.record({ kind: fc.constant('collect' as const) }),
);

test('from any earlier bindings a user ends with exactly the given roles, and a repeat writes nothing', async (t) => {
  const access = await opened(t);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 12 }), async (steps) => {
      run += 1;
      const names = users.map((name) => `${name}-${String(run)}`);
      const bound = new Map(names.map((name) => [name, new Set<string>()]));
      for (const [index, step] of steps.entries()) {
        if (step.kind === 'assign') {
          const name = names[step.user] ?? '';
          t.equal(await assign(access, name, step.roles), 'ok');
          bound.set(name, new Set(step.roles));
          const position = access.models.position();
          t.equal(await assign(access, name, [...step.roles].reverse()), 'ok');
          t.equal(access.models.position(), position);
        } else if (step.kind === 'bind') {
          const named = step.users.map((each) => names[each] ?? '');
          await access.given(binding(`given-${String(run)}-${String(index)}`, step.role, ...named));
          for (const name of named) bound.get(name)?.add(step.role);
        } else {
          for (const name of [...access.models.pages(access.type('rolebindings').key, everything)].flat())
            await access.as(platform).collect('rolebindings', name);
        }
        for (const [name, expected] of bound) t.strictSame(access.permissions.boundRoles(name), [...expected].sort());
      }
    }),
    { numRuns: runs, ...seed },
  );
});

test('a refusal midway removes the new bindings, and keeps the old ones', async (t) => {
  const access = await opened(t);
  await assign(access, 'alice', ['first']);
  let writes = 0;
  const refusing: Execute = async (type, command, given) => {
    if (!given.dryRun && command.type === 'create') writes += 1;
    return writes === 2 && command.type === 'create'
      ? { ok: false, rejection: { reason: 'forbidden', detail: 'no longer' } }
      : access.execute(type, command, given);
  };
  t.equal(await assign(access, 'alice', ['second', 'third'], { execute: refusing }), 'forbidden');
  t.strictSame(access.permissions.boundRoles('alice'), ['first']);
});

test('everything is checked before the first write', async (t) => {
  const access = await opened(t);
  await assign(access, 'alice', ['first']);
  const position = access.models.position();
  const limited = access.as('bob').subject;
  await access.given(binding('bob-second', 'second', 'bob'));
  const after = access.models.position();
  t.ok(after > position);
  t.equal(await assign(access, 'alice', ['second', 'third'], { subject: limited }), 'forbidden');
  t.equal(access.models.position(), after);
  t.equal(await assign(access, 'alice', ['second'], { dryRun: true }), 'ok');
  t.equal(access.models.position(), after);
  t.equal(
    await assign(access, 'alice', ['second'], { subject: limited }),
    'forbidden',
    'nobody takes a role from a user with more rights',
  );
  t.strictSame(access.permissions.boundRoles('alice'), ['first']);
});

test('bindings that change meanwhile are read again', async (t) => {
  const access = await opened(t);
  await access.given(binding('shared', 'first', 'alice', 'bob'));
  let interfered = false;
  const racing: Execute = async (type, command, given) => {
    if (!given.dryRun && !interfered) {
      interfered = true;
      shown(
        await access.execute(
          type,
          {
            type: 'patch',
            name: 'shared',
            patch: {
              kind: 'merge',
              document: {
                subjects: [
                  { kind: 'User', name: 'alice' },
                  { kind: 'User', name: 'oidc:new' },
                ],
              },
            },
            part: 'main',
            preconditions: {},
          },
          { ...context },
        ),
      );
    }
    return access.execute(type, command, given);
  };
  t.equal(await assign(access, 'alice', ['second'], { execute: racing }), 'ok');
  t.strictSame(access.permissions.boundRoles('alice'), ['second']);
  t.strictSame(access.permissions.boundRoles('oidc:new'), ['first'], 'a user added meanwhile stays');
  t.strictSame(access.permissions.boundRoles('bob'), []);
});

test("a binding's name is valid, readable, and unique for each pair", async (t) => {
  t.match(bindingName('alice', 'post-editor', 0), /^alice-post-editor-[0-9a-f]{16}$/u);
  t.not(bindingName('a-b', 'c', 0), bindingName('a', 'b-c', 0));
  t.not(bindingName('a', 'b', 0), bindingName('a', 'b', 1));
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 600 }),
      fc.string({ maxLength: nameLengthMax }),
      (name, to) => nameProblem(bindingName(name, to, 0)) === undefined,
    ),
  );
});
