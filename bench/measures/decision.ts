import { PermissionTables } from '../../projections/permissions/permission-tables.ts';
import { logPosition, streamRevision } from '../../src/log/log.ts';
import type { Change, ChangeBatch, ObjectReader, StoredObject } from '../../src/read/objects.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { requestInfo, type NonResourceRequest, type ResourceRequest } from '../../src/resource/query/request-path.ts';
import type { Subject } from '../../src/command/subject.ts';
import type { Measure } from '../bench.ts';
import { median } from '../rounds.ts';

const roles = 1_000;
const users = 10_000;
const rulesEach = 50;
const decisionsEach = 64;
const mebibyte = 1_048_576;

/**
 * Measures in this process the cost of one decision, and of computing the rights of all users again after a change of
 * one role. There are 1,000 roles of 50 rules, and 10,000 users with three roles each. No two users have the same
 * roles. Each decision uses a new random user and request.
 */
export const decision: Measure = {
  name: 'decision',
  run: async (bench) => {
    const objects = new Objects();
    const rounds = bench.rounds * 20;
    const before = heapUsed();
    const tables = new PermissionTables({ reader: objects.reader, feed: objects, domain: 'svc.run' });
    const loadMs = timed(() => {
      tables.load();
    });
    const subjects = Array.from({ length: users }, (_user, user) => subjectOf(user));
    const requests = drawnRequests();
    let decisions = 0;
    let rights = 0;
    let allowed = 0;
    const drawn = (draw: number): Drawn => {
      const user = draw % users;
      const ofGroup = requests[(rolesOf(user)[draw % 3]! + (draw % 5)) % groups]!;
      return { subject: subjects[user]!, request: ofGroup[draw % ofGroup.length]! };
    };
    const decide = ({ subject, request }: Drawn): void => {
      decisions += 1;
      if (tables.rightsOf(subject).find(request, () => 'blog') !== undefined) allowed += 1;
    };
    const random = drawing();
    const firstMs = timed(() => {
      for (let user = 0; user < users; user += 1) decide(drawn(user));
    });
    const costs: number[] = [];
    for (let sample = 0; sample < rounds * 200; sample += 1) {
      const draws = Array.from({ length: decisionsEach }, () => drawn(random()));
      costs.push(
        (timed(() => {
          for (const draw of draws) decide(draw);
        }) *
          1_000) /
          decisionsEach,
      );
    }
    // Measures the more frequent case on a server: a user sends several requests while the user's rules are in the
    // cache of the processor.
    const again: number[] = [];
    for (let sample = 0; sample < rounds * 50; sample += 1) {
      const user = random() % users;
      const draws = Array.from({ length: decisionsEach }, () => drawn(user + users * (random() % 1_000)));
      again.push(
        (timed(() => {
          for (const draw of draws) decide(draw);
        }) *
          1_000) /
          decisionsEach,
      );
    }
    const recompiled: number[] = [];
    const holders: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const changed = (round * 37) % roles;
      const held = holdersOf(changed).map(drawn);
      const batch = objects.changed(changed, round);
      recompiled.push(
        timed(() => {
          objects.publish(batch);
          // Reads the rights of all users, which computes the changed ones. Then decides the requests of the users with
          // the changed role.
          for (const subject of subjects) rights += tables.rightsOf(subject).isSuperAdministrator ? 0 : 1;
          for (const one of held) decide(one);
        }),
      );
      holders.push(held.length);
    }
    if (rights !== rounds * users) throw new Error('a user is a super administrator');
    if (allowed * 10 < decisions || allowed * 10 > decisions * 9)
      throw new Error(`${String(allowed)} of ${String(decisions)} decisions allow the request, not 10 to 90 %`);
    const memory = (heapUsed() - before) / mebibyte;
    const warm = costs.slice(costs.length >> 2);
    return [
      {
        measure: 'decision',
        value: median(warm),
        unit: 'µs',
        spread: spread(warm),
        floor: 2,
        bound: 'value at most',
        note:
          `${roles.toLocaleString('en')} roles, ${users.toLocaleString('en')} users, ${String(rulesEach)} rules per ` +
          `role; means of ${String(decisionsEach)} decisions`,
      },
      {
        measure: 'decision, the same user again',
        value: median(again),
        unit: 'µs',
        spread: spread(again),
        note: `${String(decisionsEach)} different requests in a row`,
      },
      {
        measure: 'role recompiled',
        value: median(recompiled),
        unit: 'ms',
        spread: spread(recompiled),
        floor: 5,
        bound: 'value at most',
        note:
          `with the rights of all ${users.toLocaleString('en')} users, and a decision for each of the ` +
          `${String(median(holders))} users with the role`,
      },
      {
        measure: 'tables loaded',
        value: loadMs,
        unit: 'ms',
        note: `first decision of every user: ${firstMs.toFixed(0)} ms`,
      },
      { measure: 'tables, memory', value: memory, unit: 'MiB', note: 'of the heap, with all caches' },
    ];
  },
};

type Drawn = { readonly subject: Subject; readonly request: ResourceRequest | NonResourceRequest };

function timed(task: () => void): number {
  const start = process.hrtime.bigint();
  task();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function spread(values: readonly number[]): readonly [number, number] {
  const sorted = [...values].sort((left, right) => left - right);
  return [sorted[0] ?? Number.NaN, sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN];
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Returns a random generator that generates the same numbers in every run. */
function drawing(): () => number {
  let state = 0x2545f491;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 1;
  };
}

/** The three roles of a user. About thirty users have each role. */
function rolesOf(user: number): readonly number[] {
  return [user % roles, (user * 7 + 3) % roles, (Math.floor(user / roles) * 101 + user * 13) % roles];
}

function holdersOf(role: number): readonly number[] {
  return Array.from({ length: users }, (_user, user) => user).filter((user) => rolesOf(user).includes(role));
}

function subjectOf(user: number): Subject {
  return { kind: 'user', name: `user-${String(user)}`, credential: { kind: 'session', uid: 's', userUid: 'u' } };
}

const groups = 40;
const groupOf = (role: number, place: number): string => `group-${String((role + (place % 4)) % groups)}.example.com`;
const resourceOf = (place: number): string => `things${String(place >> 1)}`;

/**
 * Returns a rule similar to the rules of plugins. The rules of a role are in four API groups. Most rules apply to any
 * name, some to a few names, and every tenth rule to paths.
 */
function ruleOf(role: number, place: number, edition: number): Readonly<Record<string, readonly string[]>> {
  const group = groupOf(role, place);
  const resource = resourceOf(place);
  const verbs = place % 3 === 0 ? ['*'] : ['get', 'list', 'watch'];
  if (place % 10 === 9)
    return { nonResourceURLs: [`/apis/${group}/v1/${resource}/x/y/${String(edition)}/*`, `/open/${resource}`], verbs };
  if (place % 5 === 1) return { apiGroups: [group], resources: [`blog/${resource}`], verbs };
  if (place % 5 === 2)
    return {
      apiGroups: [group],
      resources: [resource, `${resource}/*`],
      resourceNames: ['one', 'two', 'team-*'],
      verbs,
    };
  return { apiGroups: [group], resources: [resource, `${resource}/status`], verbs };
}

/**
 * Returns requests for each group. The rules allow some of the requests. The other requests are only similar to allowed
 * ones.
 */
function drawnRequests(): readonly (readonly (ResourceRequest | NonResourceRequest)[])[] {
  const tails = ['', '/one', '/team-a', '/other', '/one/status'];
  const methods = ['GET', 'GET', 'PUT', 'DELETE'];
  return Array.from({ length: groups }, (_group, group) =>
    Array.from({ length: rulesEach * 4 }, (_request, at) => {
      const place = `/apis/${groupOf(group, 0)}/v1/${resourceOf(at % rulesEach)}`;
      const request = requestInfo(
        methods[at % 4]!,
        at % 16 === 15 ? `/open/things${String(at % 30)}` : `${place}${tails[at % 5]!}`,
        'no watch',
      );
      if (request.kind === 'malformed') throw new Error(request.detail);
      return request;
    }),
  );
}

/**
 * The stored objects, in the form in which a read model returns them. The measure needs only permission tables, and
 * opens no read model.
 */
class Objects {
  readonly #rows = new Map<string, ReadonlyMap<string, StoredObject>>([
    ['roles', new Map(Array.from({ length: roles }, (_role, role) => [`role-${String(role)}`, roleRow(role, 0)]))],
    [
      'rolebindings',
      new Map(
        Array.from({ length: users }, (_user, user) =>
          rolesOf(user).map((role, index) => bindingRow(user, role, index)),
        ).flat(),
      ),
    ],
    [
      'users',
      new Map(
        Array.from({ length: users }, (_user, user) => [
          `user-${String(user)}`,
          stored(`user-${String(user)}`, { spec: { email: 'x@example.com' } }),
        ]),
      ),
    ],
  ]);
  #listener: (batch: ChangeBatch) => void = () => undefined;

  readonly reader = {
    names: (type: TypeKey) => [...(this.#rows.get(type)?.keys() ?? [])],
    get: (type: TypeKey, name: string) => this.#rows.get(type)?.get(name),
  } as unknown as ObjectReader;

  subscribe(listener: (batch: ChangeBatch) => void): () => void {
    this.#listener = listener;
    return () => undefined;
  }

  changed(role: number, edition: number): ChangeBatch {
    const change: Change = {
      ...roleRow(role, edition + 1),
      type: 'roles' as TypeKey,
      name: `role-${String(role)}`,
      kind: 'modified',
      cause: { id: '', correlationId: '' },
      before: undefined,
      after: undefined,
      previousBytes: undefined,
      deletionRequested: false,
      finalizers: false,
    };
    return { changes: [change], position: change.position };
  }

  publish(batch: ChangeBatch): void {
    this.#listener(batch);
  }
}

function roleRow(role: number, edition: number): StoredObject {
  return stored(`role-${String(role)}`, {
    rules: Array.from({ length: rulesEach }, (_rule, index) => ruleOf(role, index, edition)),
  });
}

function bindingRow(user: number, role: number, place: number): readonly [string, StoredObject] {
  const name = `b-${String(user)}-${String(place)}`;
  return [
    name,
    stored(name, {
      roleRef: { apiGroup: '', kind: 'Role', name: `role-${String(role)}` },
      subjects: [{ apiGroup: '', kind: 'User', name: `user-${String(user)}` }],
    }),
  ];
}

function stored(name: string, members: Readonly<Record<string, unknown>>): StoredObject {
  const metadata = {
    name,
    uid: `uid-of-${name}`,
    version: 0,
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00.000Z',
  };
  return {
    bytes: Buffer.from(JSON.stringify({ apiVersion: 'v1alpha1', kind: 'Any', metadata, ...members })),
    revision: streamRevision(0),
    position: logPosition(1n),
  };
}
