import { test, type Test } from 'tap';

import { watchGuardMs } from '../../src/limits/watches.ts';
import { Administration, as, core, passwordOf, prefixed, type Rule } from '../support/server/administration.ts';
import { ask } from '../support/ask.ts';
import type { FakeClock } from '../support/clocks/fake-clock.ts';
import { adminAuthorization, type TestServer } from '../support/server/start-server.ts';
import { StoppedTime } from '../support/clocks/stopped-time.ts';
import { transports, Watching } from '../support/watching.ts';

type Headers = Readonly<Record<string, string>>;

type Case = {
  readonly what: string;
  /** Gives the right to a new user, and names them by the part that they watch. */
  given(stage: Stage): Promise<Headers>;
  /** Takes it away; each of these has been answered when it resolves. */
  take(stage: Stage): Promise<void>;
  /** An object that this changes: a watcher that loses the right by the change does not see it. */
  readonly changes?: readonly [plural: string, object: RegExp];
  /** What no write says is found out by the guard. */
  readonly isFoundOut?: true;
};

const watched = ['rolebindings', 'roles', 'users', 'personalaccesstokens'] as const;
const watchRule: Rule = { apiGroups: [''], resources: watched, verbs: ['get', 'watch'] };
const bystander = 'bystander';
/** Shorter than it takes to miss the answer to a ping. */
const expiryMs = 1_000;

/** A server with one user that watches all the time, and a new user for each case. */
class Stage {
  readonly clock: FakeClock;
  readonly server: TestServer;
  readonly administration: Administration;
  /** Of the case at hand. */
  name = '';

  constructor(server: TestServer, clock: FakeClock) {
    this.server = server;
    this.clock = clock;
    this.administration = new Administration(server.url);
  }

  /** A user with a role of their own that holds the rule, or none. */
  async user(rules: readonly Rule[] = [watchRule], annotations: Headers = {}): Promise<Headers> {
    await this.administration.user(this.name);
    await this.administration.role(this.name, { rules, annotations });
    await this.administration.bind(this.name, this.name, this.name);
    return as(this.name);
  }

  async token(spec: object = {}): Promise<Headers> {
    const headers = await this.user();
    const made = await this.administration.call(
      'POST',
      '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens',
      { metadata: { name: this.name }, spec },
      { headers },
    );
    const { status } = JSON.parse(made.text) as { readonly status: { readonly token: string } };
    const token = { authorization: `Bearer ${status.token}` };
    // That it was used is noted soon after, once a minute: a change that comes whenever it likes is had before.
    const noting = await Watching.open(this.server.url, core('personalaccesstokens', this.name), {
      transport: 'json',
      headers: { authorization: adminAuthorization },
    });
    await this.status(token);
    await noting.until(({ texts }) => texts.some((text) => text.includes('"lastUsedAt"')));
    noting.leave();
    return token;
  }

  async session(): Promise<Headers> {
    await this.user();
    const answered = await ask(this.server.url, '/login', {
      method: 'POST',
      body: JSON.stringify({ username: this.name, password: passwordOf(this.name) }),
      headers: { 'content-type': 'application/json' },
    });
    return { cookie: answered.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '' };
  }

  async status(headers: Headers): Promise<number> {
    return (await ask(this.server.url, core('rolebindings', 'bystanders'), { headers })).status;
  }

  async watch(headers: Headers): Promise<readonly Watching[]> {
    const all = watched.flatMap((plural) =>
      transports.map(async (transport) =>
        Watching.open(this.server.url, `${core(plural)}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan`, {
          transport,
          headers,
        }),
      ),
    );
    return Promise.all(all);
  }
}

const binding = /^\w+ RoleBinding /u;

const cases: readonly Case[] = [
  {
    what: 'the binding is deleted',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.remove('rolebindings', name),
    changes: ['rolebindings', binding],
  },
  {
    what: 'the binding names somebody else',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) =>
      administration.merge('rolebindings', name, { subjects: [{ kind: 'User', name: bystander }] }),
    changes: ['rolebindings', binding],
  },
  {
    what: 'the rule is removed',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.merge('roles', name, { rules: [] }),
    changes: ['roles', /^MODIFIED Role /u],
  },
  {
    what: 'the rule has another verb',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) =>
      administration.merge('roles', name, { rules: [{ ...watchRule, verbs: ['list'] }] }),
    changes: ['roles', /^MODIFIED Role /u],
  },
  {
    what: 'the role is deleted',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.remove('roles', name),
    changes: ['roles', / Role /u],
  },
  {
    what: 'a dependency is no more',
    changes: ['roles', /^MODIFIED Role /u],
    given: async (stage) => {
      await stage.administration.role(`${stage.name}-base`, { rules: [watchRule] });
      return stage.user([], { dependencies: JSON.stringify([`${stage.name}-base`]) });
    },
    take: async ({ administration, name }) =>
      administration.merge('roles', name, { metadata: { annotations: prefixed({ dependencies: '[]' }) } }),
  },
  {
    what: 'a role depended on loses its rule',
    changes: ['roles', /^MODIFIED Role /u],
    given: async (stage) => {
      await stage.administration.role(`${stage.name}-base`, { rules: [watchRule] });
      return stage.user([], { dependencies: JSON.stringify([`${stage.name}-base`]) });
    },
    take: async ({ administration, name }) => administration.merge('roles', `${name}-base`, { rules: [] }),
  },
  {
    what: 'an aggregated role is unlabelled',
    changes: ['roles', /^MODIFIED Role /u],
    given: async (stage) => {
      await stage.administration.role(`${stage.name}-part`, {
        rules: [watchRule],
        labels: { [`rbac.authorization.svc.run/aggregate-to-${stage.name}`]: 'true' },
      });
      return stage.user([]);
    },
    take: async ({ administration, name }) =>
      administration.merge('roles', `${name}-part`, { metadata: { labels: null } }),
  },
  {
    what: 'the token is revoked',
    given: async (stage) => stage.token(),
    take: async ({ administration, name }) =>
      administration.merge('personalaccesstokens', name, { spec: { revoked: true } }),
    changes: ['personalaccesstokens', /^MODIFIED PersonalAccessToken /u],
  },
  {
    what: 'the token is deleted',
    given: async (stage) => stage.token(),
    take: async ({ administration, name }) => administration.remove('personalaccesstokens', name),
    changes: ['personalaccesstokens', /^DELETED PersonalAccessToken /u],
  },
  {
    what: 'the token expires',
    isFoundOut: true,
    given: async (stage) => stage.token({ expiresAt: new Date(stage.clock.now() + expiryMs).toISOString() }),
    take: async ({ clock }) => {
      clock.advance(expiryMs);
    },
  },
  {
    what: 'the user is disabled',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.merge('users', name, { spec: { disabled: true } }),
    changes: ['users', /^MODIFIED User /u],
  },
  {
    what: "the token's user is disabled",
    given: async (stage) => stage.token(),
    take: async ({ administration, name }) => administration.merge('users', name, { spec: { disabled: true } }),
    changes: ['users', /^MODIFIED User /u],
  },
  {
    what: 'the user is deleted',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.remove('users', name),
    changes: ['users', / User /u],
  },
  {
    what: 'the user has another password',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) =>
      administration.merge('users', name, { spec: { password: 'another password' } }),
    changes: ['users', /^MODIFIED User /u],
  },
  {
    what: "the session's user has another password",
    given: async (stage) => stage.session(),
    take: async ({ administration, name }) =>
      administration.merge('users', name, { spec: { password: 'another password' } }),
    changes: ['users', /^MODIFIED User /u],
  },
  {
    what: 'the session is ended',
    given: async (stage) => stage.session(),
    take: async ({ administration, name }) => {
      const { items } = JSON.parse(
        (await administration.call('GET', `${core('sessions')}?fieldSelector=spec.user%3D${name}`)).text,
      ) as { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
      for (const { metadata } of items) await administration.remove('sessions', metadata.name);
    },
  },
];

async function open(t: Test): Promise<Stage> {
  const { server, clock } = await StoppedTime.start(t);
  const stage = new Stage(server, clock);
  await stage.administration.user(bystander);
  await stage.administration.role('watching', { rules: [watchRule] });
  await stage.administration.bind('bystanders', 'watching', bystander);
  return stage;
}

function endedByRights(t: Test, watching: Watching, code: number): void {
  t.equal(code, watching.transport === 'websocket' ? 4403 : 0, `${watching.transport} closes`);
  t.match(
    watching.events.at(-1),
    { type: 'ERROR', object: { kind: 'Status', code: 403, reason: 'Forbidden' } },
    `${watching.transport} says why`,
  );
}

/** Watches of a user that loses the right and of one that keeps it, before, during and after the loss. */
async function loses(t: Test, stage: Stage, { changes, isFoundOut, ...each }: Case): Promise<void> {
  const { name, clock, administration } = stage;
  const headers = await each.given(stage);
  t.equal(await stage.status(headers), 200);
  const [losing, keeping] = await Promise.all([stage.watch(headers), stage.watch(as(bystander))]);
  const counts = new Map(losing.map((watching) => [watching, watching.texts.length]));
  await each.take(stage);
  t.ok([401, 403].includes(await stage.status(headers)), 'the next request is refused');
  if (isFoundOut === true) clock.advance(watchGuardMs);
  for (const watching of losing) endedByRights(t, watching, await watching.ended());
  t.ok(
    losing.every((watching) => watching.story.slice(counts.get(watching)).every((line) => line.startsWith('ERROR'))),
    'no event is sent between the loss and its ERROR',
    { stories: losing.map(({ story }) => story) },
  );

  await administration.role(`${name}-later`);
  const [byBinding, byRole, byUser, byToken] = watched.map((plural) =>
    keeping.filter((_watching, index) => watched[Math.floor(index / transports.length)] === plural),
  );
  for (const watching of byRole!) await watching.until(({ story }) => story.includes(`ADDED Role ${name}-later`));
  if (changes !== undefined) {
    const [plural, change] = changes;
    const witnesses = { rolebindings: byBinding!, roles: byRole!, users: byUser!, personalaccesstokens: byToken! }[
      plural
    ]!;
    for (const watching of witnesses) await watching.until(({ story }) => story.some((line) => change.test(line)));
  }
  t.ok(
    keeping.every(({ closed }) => closed === undefined),
    'watches of others go on',
  );
  for (const watching of keeping) watching.leave();
}

test('a lost right ends its watches in the same turn, and the next request is refused', async (t) => {
  const stage = await open(t);
  for (const [index, each] of cases.entries()) {
    stage.name = `case-${String(index)}`;
    await t.test(each.what, async (t) => loses(t, stage, each));
  }
});

test('a watcher that is still catching up does not reach the event that removed its right', async (t) => {
  const stage = await open(t);
  for (const transport of transports) {
    stage.name = `past-${transport}`;
    const headers = await stage.user();
    const watching = await Watching.open(stage.server.url, `${core('rolebindings')}?resourceVersion=1`, {
      transport,
      headers,
    });
    await stage.administration.remove('rolebindings', stage.name);
    endedByRights(t, watching, await watching.ended());
    t.notOk(
      watching.story.some((line) => /^(?:MODIFIED|DELETED) /u.test(line) && line.endsWith(` ${stage.name}`)),
      transport,
    );
  }
});

test('a regained right is effective at once, for its subjects only', async (t) => {
  const stage = await open(t);
  stage.name = 'again';
  const headers = await stage.user();
  let bound = 'again';
  for (let round = 0; round < 5; round += 1) {
    await stage.administration.remove('rolebindings', bound);
    t.equal(await stage.status(headers), 403);
    // Its name is free again only once the binding before is gone for good.
    bound = `again-${String(round)}`;
    await stage.administration.bind(bound, 'again', 'again');
    t.equal(await stage.status(headers), 200);
  }
});
