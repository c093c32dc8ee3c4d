/**
 * Watches of the audit stream over HTTP against the list: drawn writes, conditions and rights, watchers that join at
 * drawn positions, read slowly and connect again. What each receives, joined, is the list by the same conditions.
 */
import fc from 'fast-check';
import t, { test } from 'tap';

import { must } from '../../../src/base/unreachable.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { EventReader } from './event-reader.ts';
import { allEvents, widgetsPath } from './listed-events.ts';

t.setTimeout(280_000);

const selectors = [
  '',
  'type=widgets.example.com',
  'name=w1',
  'name in (w0,w2),type=widgets.example.com',
  'actor=admin',
  'actor!=admin',
  'verb=delete',
  'type=users',
  'verb!=create,type!=widgets.example.com',
];
/** The whole log, the events of widgets, and those of widgets and users. */
const users = ['admin', 'auditor', 'confined', 'wider'] as const;
const names = ['w0', 'w1', 'w2', 'w3'];

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), name: fc.nat(3), by: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), name: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('label a user' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('watch' as const),
      selector: fc.nat(selectors.length - 1),
      user: fc.nat(users.length - 1),
      /** From the start, or after one of the positions so far. */
      after: fc.option(fc.nat(100)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('pause' as const, 'resume' as const, 'reconnect' as const),
      watcher: fc.nat(100),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Open = { readonly reader: EventReader; readonly where: string; readonly user: string; readonly after?: string };

function authorizationOf(user: string): string {
  return user === 'admin' ? adminAuthorization : must(as(user)['authorization'], 'a user has credentials');
}

class Stage {
  readonly #server: TestServer;
  readonly #positions: string[] = [];
  readonly open: Open[] = [];
  #count = 0;

  constructor(server: TestServer) {
    this.#server = server;
  }

  async take(drawn: Step): Promise<void> {
    switch (drawn.kind) {
      case 'write':
        await this.#write(must(names[drawn.name], 'a drawn name'), drawn.by === 0 ? 'admin' : 'writer');
        break;
      case 'remove':
        await this.#send('DELETE', `${widgetsPath}/${must(names[drawn.name], 'a drawn name')}`);
        break;
      case 'label a user':
        await this.#send('PATCH', '/api/v1alpha1/users/nobody', { metadata: { labels: { at: this.#next() } } });
        break;
      case 'watch':
        this.#watch(drawn);
        break;
      default:
        this.open[drawn.watcher % Math.max(1, this.open.length)]?.reader[drawn.kind]();
    }
  }

  #watch({ selector, user, after }: Extract<Step, { kind: 'watch' }>): void {
    const [where, name] = [selectors[selector] ?? '', users[user] ?? 'admin'];
    const position = after === null ? undefined : this.#positions.at(after % Math.max(1, this.#positions.length));
    const from = position === undefined ? {} : { after: position };
    const wanted = where === '' ? {} : { where };
    const reader = new EventReader(this.#server.url, wanted, { authorization: authorizationOf(name), ...from });
    this.open.push({ reader, where, user: name, ...from });
  }

  async #write(name: string, user: string): Promise<void> {
    const headers = { authorization: authorizationOf(user) };
    const spec = { title: this.#next() };
    const patched = await this.#send('PATCH', `${widgetsPath}/${name}`, { spec }, headers);
    if (patched === 404) await this.#send('POST', widgetsPath, { metadata: { name }, spec }, headers);
  }

  #next(): string {
    this.#count += 1;
    return `t${String(this.#count)}`;
  }

  async #send(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const type = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
    const answer = await this.#server.call(path, { method, body, headers: { ...type, ...headers } });
    const shown = (await answer.json()) as { readonly metadata?: { readonly resourceVersion?: string } };
    if (answer.ok && shown.metadata?.resourceVersion !== undefined)
      this.#positions.push(shown.metadata.resourceVersion);
    else if (answer.status !== 404) throw new Error(`${path}: ${JSON.stringify(shown)}`);
    return answer.status;
  }
}

/** All events that the watch must show. */
async function expected(server: TestServer, { where, user, after }: Open): Promise<readonly unknown[]> {
  const all = [where, ...(after === undefined ? [] : [`position>${after}`])].filter((part) => part !== '');
  const wanted = all.length === 0 ? {} : { where: all.join() };
  return allEvents(server, { ...wanted, limit: '500' }, { headers: { authorization: authorizationOf(user) } });
}

async function given(): Promise<TestServer> {
  const server = await startTestServer({
    streamBounds: { bytesMax: 200_000, accountBytesMax: 100_000, watcherBytesMax: 20_000 },
  });
  t.teardown(async () => server.remove());
  const administration = new Administration(server.url);
  for (const user of ['nobody', 'auditor', 'confined', 'wider', 'writer']) await administration.user(user);
  await administration.bind('auditors', 'role-template-audit-viewer', 'auditor');
  const writing = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['create', 'patch'] };
  await administration.role('widget-writer', { rules: [writing] });
  await administration.bind('widget-writers', 'widget-writer', 'writer');
  const events = { apiGroups: ['audit.svc.run'], resources: ['events'], verbs: ['list', 'watch'] };
  const history = { apiGroups: ['example.com'], resources: ['widgets/history'], verbs: ['get'] };
  const ofUsers = { apiGroups: ['svc.run'], resources: ['users/history'], verbs: ['get'] };
  await administration.role('widget-auditor', { rules: [events, history] });
  await administration.bind('widget-auditors', 'widget-auditor', 'confined');
  await administration.role('wider-auditor', { rules: [events, history, ofUsers] });
  await administration.bind('wider-auditors', 'wider-auditor', 'wider');
  return server;
}

test('what a watcher receives, joined over all its watches, is the list: each event once, and in order', async (t) => {
  const server = await given();
  let [received, resumed] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const stage = new Stage(server);
      try {
        for (const drawn of steps) await stage.take(drawn);
        for (const open of stage.open) {
          open.reader.resume();
          const wanted = await expected(server, open);
          await open.reader.has(wanted.length);
          if (open.reader.failure !== undefined) throw open.reader.failure;
          t.strictSame(open.reader.items, wanted, `${open.where} by ${open.user}`);
          received += wanted.length;
          resumed += open.reader.watches - 1;
        }
      } finally {
        for (const { reader } of stage.open) reader.close();
      }
    }),
    { numRuns: 8, endOnFailure: true },
  );
  t.ok(received > 100, `${String(received)} events`);
  t.ok(resumed > 5, `${String(resumed)} watches resumed`);
});
