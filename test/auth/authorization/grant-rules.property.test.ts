import fc from 'fast-check';
import { test } from 'tap';

import type { WriteOutcome } from '../../../src/command/command.ts';
import type { UserSubject } from '../../../src/command/subject.ts';
import { resourceRequest } from '../../../src/resource/query/request-path.ts';
import { Access, binding, platform, role, rule, session, token, user, type Plural } from '../../support/access.ts';
import { shown } from '../../support/writing.ts';

/**
 * Users write roles, bindings, users and tokens at random, several at once. The rights that anybody can reach (their
 * own, and those of every account with a known password) grow by no more than the writers' rights before. And users
 * with more rights than all writers keep their account, bindings, tokens and sessions unchanged.
 */
const runs = Number(process.env['PBT_RUNS'] ?? 300);
const seed = process.env['PBT_SEED'];

const resources = ['a', 'b', 'c'] as const;
const verbs = ['get', 'create', 'delete'] as const;
const roles = ['r0', 'r1', 'r2', 'r3', 'r4'] as const;
const users = ['u0', 'u1', 'u2', 'u3', 'ghost'] as const;
/** Each user's token and session are called by the user's name. */
const owned = users.slice(0, 4);

type Ties = {
  readonly rules: readonly (readonly [string, string, string | undefined])[];
  readonly dependencies: readonly string[];
  readonly aggregateTo: readonly string[];
};

type Wish =
  | { readonly kind: 'role'; readonly name: string; readonly ties: Ties }
  | { readonly kind: 'binding'; readonly name: string; readonly role: string; readonly users: readonly string[] }
  | { readonly kind: 'user'; readonly name: string; readonly password: boolean; readonly disabled: boolean }
  | { readonly kind: 'rename'; readonly name: string }
  | { readonly kind: 'revoke'; readonly name: string }
  | { readonly kind: 'token'; readonly name: string; readonly roles: readonly string[] }
  | { readonly kind: 'delete'; readonly plural: Plural; readonly name: string };

/** `confined`: by a token that has only these roles. */
type Step = { readonly by: string; readonly confined: readonly string[] | undefined; readonly wish: Wish };

const some = (names: readonly string[], maxLength = 2): fc.Arbitrary<readonly string[]> =>
  fc.uniqueArray(fc.constantFrom(...names), { maxLength });
const ruleParts = fc.tuple(
  fc.constantFrom(...verbs, '*'),
  fc.constantFrom(...resources, '*'),
  fc.constantFrom(undefined, 'x', 'y', 'x*'),
);
const ties: fc.Arbitrary<Ties> = fc.record({
  rules: fc.array(ruleParts, { maxLength: 2 }),
  dependencies: some(roles),
  aggregateTo: some(roles, 1),
});
const bindingName = fc.constantFrom('b0', 'b1', 'b2', 'b3', 'b4');
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('role' as const), name: fc.constantFrom(...roles), ties }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('binding' as const),
      name: bindingName,
      role: fc.constantFrom(...roles),
      users: fc.uniqueArray(fc.constantFrom(...users), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('user' as const),
      name: fc.constantFrom(...users),
      password: fc.boolean(),
      disabled: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('token' as const),
      name: fc.constantFrom('t0', 't1'),
      roles: some(roles),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), name: fc.constantFrom(...users) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revoke' as const), name: fc.constantFrom(...owned) }) },
  {
    weight: 4,
    arbitrary: fc.oneof(
      fc.record({
        kind: fc.constant('delete' as const),
        plural: fc.constant('roles' as const),
        name: fc.constantFrom(...roles),
      }),
      fc.record({
        kind: fc.constant('delete' as const),
        plural: fc.constant('rolebindings' as const),
        name: bindingName,
      }),
      fc.record({
        kind: fc.constant('delete' as const),
        plural: fc.constant('users' as const),
        name: fc.constantFrom(...users),
      }),
      fc.record({
        kind: fc.constant('delete' as const),
        plural: fc.constantFrom('personalaccesstokens' as const, 'sessions' as const),
        name: fc.constantFrom(...owned),
      }),
    ),
  },
);
const step: fc.Arbitrary<Step> = fc.record({
  by: fc.constantFrom(...users),
  confined: fc.option(some(roles), { nil: undefined, freq: 4 }),
  wish,
});
const story = fc.record({
  roles: fc.tuple(...roles.slice(0, 3).map(() => ties)),
  bindings: fc.array(fc.tuple(fc.constantFrom(...roles.slice(0, 3)), fc.constantFrom(...users)), {
    minLength: 2,
    maxLength: 4,
  }),
  turns: fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 10 }),
});

test("nobody ever reaches more than the writers' rights", async (t) => {
  const access = await Access.open(t);
  const count = { attempted: 0, done: 0, refused: 0, opened: 0, above: 0 };
  await fc.assert(
    fc.asyncProperty(story, async (steps) => {
      count.attempted += 1;
      const world = new World(access, `s${String(count.attempted)}-`, count);
      await world.begin(steps.roles, steps.bindings);
      for (const turn of steps.turns) await world.turn(turn);
    }),
    { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) },
  );
  t.ok(
    count.done > runs && count.refused > runs && count.opened > 0 && count.above > runs,
    `${JSON.stringify(count)}: the stories have enough of everything`,
  );
});

type Count = { done: number; refused: number; opened: number; above: number };

class World {
  readonly #access: Access;
  readonly #prefix: string;
  readonly #count: Count;
  /** Known passwords: by user, uids of accounts. */
  readonly #known = new Map<string, Set<string>>();

  constructor(access: Access, prefix: string, count: Count) {
    this.#access = access;
    this.#prefix = prefix;
    this.#count = count;
  }

  async begin(made: readonly Ties[], bound: readonly (readonly [string, string])[]): Promise<void> {
    await this.#access.given(
      ...made.map((tied, index) => this.#role(roles[index]!, tied)),
      ...users.slice(0, 4).map((name) => user(this.#in(name), name === 'u3' ? { disabled: true } : {})),
      ...owned.flatMap((name) => [this.#session(name), token(this.#in(name), { owner: this.#in(name) })]),
      ...bound.map(([to, name], index) => binding(this.#in(`b${String(index)}`), this.#in(to), this.#in(name))),
    );
  }

  /** All steps at once; those of users that cannot log in are left out. */
  async turn(steps: readonly Step[]): Promise<void> {
    const able = steps
      .filter(({ by }) => this.#canLogIn(by))
      .map((step) => ({ ...step, subject: this.#subject(step) }));
    const before = new Map(users.map((name) => [name, this.#reach(name)]));
    const written = new Set(able.flatMap(({ subject }) => [...this.#rights(subject)]));
    const above = users.filter((name) =>
      [...this.#rights(this.#access.user(this.#in(name)))].some((right) => !written.has(right)),
    );
    const kept = new Map(above.map((name) => [name, this.#belongings(name)]));
    this.#count.above += above.length;
    await Promise.all(able.map(async (step) => this.#take(step, step.subject)));
    for (const name of users) {
      const gained = [...this.#reach(name)].filter(
        (right) => before.get(name)?.has(right) !== true && !written.has(right),
      );
      if (gained.length > 0)
        throw new Error(`${name} reaches ${gained.join()}, which none of ${able.map(({ by }) => by).join()} held`);
    }
    for (const [name, belongings] of kept) {
      const now = this.#belongings(name);
      const lost = belongings.filter((one) => !now.includes(one));
      if (lost.length > 0)
        throw new Error(`${name}, with more rights than ${able.map(({ by }) => by).join()}, lost ${lost.join()}`);
    }
    for (const {
      wish: { kind, ...of },
    } of able)
      if (kind === 'delete' && 'plural' in of) await this.#collect(of.plural, of.name);
  }

  async #take({ by, wish: wanted }: Step, subject: UserSubject): Promise<void> {
    const outcome = await this.#carryOut(wanted, subject);
    this.#count[outcome.ok ? 'done' : 'refused'] += 1;
    if (
      !outcome.ok &&
      !['forbidden', 'invalid', 'not-found', 'already-exists', 'stale-version'].includes(outcome.rejection.reason)
    )
      throw new Error(outcome.rejection.detail);
    if (!outcome.ok || wanted.kind !== 'user' || !wanted.password) return;
    this.#count.opened += 1;
    const known = this.#known.get(by) ?? new Set();
    this.#known.set(by, known.add(shown(outcome).metadata.uid));
  }

  async #carryOut(wanted: Wish, subject: UserSubject): Promise<WriteOutcome> {
    const acting = this.#access.as(subject);
    const put = async (plural: Plural, object: ReturnType<typeof user>): Promise<WriteOutcome> => {
      const name = (object['metadata'] as { readonly name: string }).name;
      return this.#access.object(plural, name) === undefined ? acting.create(object) : acting.replace(object);
    };
    switch (wanted.kind) {
      case 'role':
        return put('roles', this.#role(wanted.name, wanted.ties));
      case 'binding':
        return put(
          'rolebindings',
          binding(this.#in(wanted.name), this.#in(wanted.role), ...wanted.users.map((name) => this.#in(name))),
        );
      case 'user':
        return put(
          'users',
          user(this.#in(wanted.name), {
            disabled: wanted.disabled,
            ...(wanted.password ? { password: 'correct horse' } : {}),
          }),
        );
      case 'rename':
        return acting.patch('users', this.#in(wanted.name), { spec: { displayName: wanted.name } });
      case 'revoke':
        return acting.patch('personalaccesstokens', this.#in(wanted.name), { spec: { revoked: true } });
      case 'token':
        return acting.create(token(this.#in(wanted.name), { roles: wanted.roles.map((name) => this.#in(name)) }));
      case 'delete':
        return acting.delete(wanted.plural, this.#in(wanted.name));
    }
  }

  /** So that a name can be taken again, by an object with another uid. */
  async #collect(plural: Plural, name: string): Promise<void> {
    if (this.#access.object(plural, this.#in(name))?.metadata.deletionTimestamp !== undefined)
      shown(await this.#access.as(platform).collect(plural, this.#in(name)));
  }

  /** All of a user's that others could change or take away. */
  #belongings(name: string): readonly string[] {
    const { permissions } = this.#access;
    const own = (['users', 'personalaccesstokens', 'sessions'] as const).map((plural) => {
      const object = this.#access.object(plural, this.#in(name));
      const shown = { ...object?.metadata, resourceVersion: undefined, spec: object?.['spec'] };
      return `${plural}: ${JSON.stringify(shown)}`;
    });
    return [...own, ...permissions.boundRoles(this.#in(name)).map((to) => `binding to ${to}`)];
  }

  #session(name: string): ReturnType<typeof session> {
    return session(this.#in(name), this.#in(name), { userUid: 'u', expiresAt: '2999-01-01T00:00:00.000Z' });
  }

  #canLogIn(name: string): boolean {
    return this.#access.permissions.user(this.#in(name))?.isDisabled === false;
  }

  #subject({ by, confined }: Step): UserSubject {
    const known = this.#access.user(this.#in(by));
    return confined === undefined
      ? known
      : {
          ...known,
          credential: {
            kind: 'token',
            uid: 'u',
            userUid: known.credential.kind === 'password' ? known.credential.uid : '',
            name: 't',
            roles: confined.map((name) => this.#in(name)),
          },
        };
  }

  /** The rights they have themselves or as a user with a password that they set, as far as those can log in. */
  #reach(name: string): ReadonlySet<string> {
    const known = this.#known.get(name);
    const accounts = users.filter(
      (other) =>
        this.#canLogIn(other) &&
        (other === name || known?.has(this.#access.permissions.user(this.#in(other))?.uid ?? '') === true),
    );
    return new Set(accounts.flatMap((account) => [...this.#rights(this.#access.user(this.#in(account)))]));
  }

  #rights(subject: UserSubject): ReadonlySet<string> {
    const rights = this.#access.permissions.rightsOf(subject);
    const asked = verbs.flatMap((verb) =>
      resources.flatMap((resource) => [undefined, 'x', 'y', 'x1'].map((name) => ({ verb, resource, name }))),
    );
    return new Set(
      asked
        .filter(
          ({ verb, resource, name }) =>
            rights.find(
              resourceRequest(verb, {
                group: 'example.com',
                version: 'v1',
                resource,
                ...(name === undefined ? {} : { name }),
              }),
              () => undefined,
            ) !== undefined,
        )
        .map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ''}`),
    );
  }

  #role(name: string, { rules, dependencies, aggregateTo }: Ties): ReturnType<typeof role> {
    return role(
      this.#in(name),
      rules.map(([verb, resource, only]) => rule(verb, resource, only === undefined ? {} : { resourceNames: [only] })),
      {
        dependencies: dependencies.map((other) => this.#in(other)),
        aggregateTo: aggregateTo.map((other) => this.#in(other)),
      },
    );
  }

  #in(name: string): string {
    return this.#prefix + name;
  }
}
