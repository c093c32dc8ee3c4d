import { once } from 'node:events';
import { test, type Test } from 'tap';
import { WebSocket } from 'ws';

import { pluginRouteMs } from '../../../src/limits/plugins.ts';
import { pluginStopMs } from '../../../src/plugin/lifecycle/life-limits.ts';
import { watchGuardMs } from '../../../src/limits/watches.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { Administration, as, type Rule } from '../../support/server/administration.ts';
import { ask } from '../../support/ask.ts';
import { runCommandLine } from '../../support/server/command-line.ts';
import type { FakeClock } from '../../support/clocks/fake-clock.ts';
import { adminAuthorization, testPassword, type TestServer } from '../../support/server/start-server.ts';
import { passing, StoppedTime } from '../../support/clocks/stopped-time.ts';
import { Watching } from '../../support/watching.ts';

type Headers = Readonly<Record<string, string>>;

const base = '/apis/api.feeds.example/v1/feeds/a';
const eventsPath = `${base}/events`;
const socketPath = `${base}/socket`;
const callPath = `${base}/call`;
const pluginPath = '/apis/plugin.svc.run/v1alpha1/plugins/feeds';
const bystander = 'bystander';
const administrator: Headers = { authorization: adminAuthorization };
const streamRule: Rule = {
  apiGroups: ['api.feeds.example'],
  resources: ['feeds/events', 'feeds/socket', 'feeds/call'],
  verbs: ['get'],
};
const feedRule: Rule = { apiGroups: ['feeds.example'], resources: ['feeds'], verbs: ['get'] };
const expiryMs = 1_000;

/** What the plugin has open now, and what its calls wait for. */
type Held = { events: number; sockets: number; calls: number; called: () => void; answer: Promise<unknown> };

const heldName = 'ledgerplane test feeds';

/** Events that never end by themselves, a socket that looks through its client, a call that waits for the test. */
const moduleOfFeeds = `
const held = globalThis[Symbol.for('${heldName}')] ??= { events: 0, sockets: 0, calls: 0, called: () => undefined };
const aborted = (signal) => new Promise((resolve) => { if (signal.aborted) resolve();
  else signal.addEventListener('abort', resolve, { once: true }); });
async function* events(signal) {
  held.events += 1;
  const called = new Promise((resolve) => { held.answered = resolve; });
  try { yield { data: 'open' }; await Promise.race([called, aborted(signal)]);
    if (!signal.aborted) yield { data: 'called' }; await aborted(signal); } finally { held.events -= 1; }
}
async function socket({ messages, send }, { client }) {
  held.sockets += 1;
  try {
    send('open');
    for await (const name of messages) send(await client.get({ group: 'feeds.example', version: 'v1',
      plural: 'feeds' }, name).then(({ metadata }) => metadata.name, ({ status }) => String(status)));
  } finally { held.sockets -= 1; }
}
async function call({ signal }) {
  held.calls += 1;
  held.called();
  held.answered();
  const answer = await Promise.race([held.answer ?? (async () => {
    while (held.events > 0) await new Promise((resolve) => { setImmediate(resolve); }); return { body: 'drained' };
    })(), aborted(signal)]);
  held.calls -= 1;
  return answer === 'events' ? { events: events(signal) } : answer;
}
const base = '/apis/api.feeds.example/v1/feeds/{name}';
export default {
  types: [{ group: 'feeds.example', version: 'v1', kind: 'Feed', singular: 'feed', plural: 'feeds',
    schema: { type: 'object', properties: { spec: { type: 'object' } } } }],
  routes: [{ method: 'GET', path: base + '/events', handler: ({ signal }) => ({ events: events(signal) }) },
    { method: 'GET', path: base + '/call', handler: call }],
  sockets: [{ path: base + '/socket', handler: socket }],
};
`;

async function pluggedIn(t: Test): Promise<string> {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, {
    feeds: { 'plugin.yaml': manifestYaml('feeds', { main: 'main.mjs' }), 'main.mjs': moduleOfFeeds },
  });
  return folder;
}

/** The open streams of one caller. */
type Streams = { readonly events: Watching; readonly socket: Watching };

class Stage {
  readonly clock: FakeClock;
  readonly server: TestServer;
  readonly administration: Administration;
  /** Of the case at hand. */
  name = '';

  constructor({ server, clock }: StoppedTime) {
    this.server = server;
    this.clock = clock;
    this.administration = new Administration(server.url);
  }

  static async open(t: Test): Promise<Stage> {
    Reflect.deleteProperty(globalThis, Symbol.for(heldName));
    const stage = new Stage(await StoppedTime.start(t, { environment: { PLUGINS_DIRS: await pluggedIn(t) } }));
    await stage.administration.call('POST', '/apis/feeds.example/v1/feeds', { metadata: { name: 'a' }, spec: {} });
    stage.name = bystander;
    await stage.user();
    return stage;
  }

  get held(): Held {
    return Reflect.get(globalThis, Symbol.for(heldName)) as Held;
  }

  async user(): Promise<Headers> {
    await this.administration.user(this.name);
    await this.administration.role(this.name, { rules: [streamRule, feedRule] });
    await this.administration.bind(this.name, this.name, this.name);
    return as(this.name);
  }

  async token(spec: object = {}): Promise<Headers> {
    const headers = { ...(await this.user()) };
    await this.administration.merge('roles', this.name, {
      rules: [streamRule, feedRule, { apiGroups: ['uc.api.svc.run'], resources: ['*'], verbs: ['*'] }],
    });
    const made = await this.administration.call(
      'POST',
      '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens',
      { metadata: { name: this.name }, spec },
      { headers },
    );
    const { status } = JSON.parse(made.text) as { readonly status: { readonly token: string } };
    return { authorization: `Bearer ${status.token}` };
  }

  async streams(headers: Headers): Promise<Streams> {
    const events = await Watching.open(this.server.url, eventsPath, { transport: 'sse', headers });
    const socket = await Watching.open(this.server.url, socketPath, { transport: 'websocket', headers });
    for (const watching of [events, socket]) await watching.until(({ texts }) => texts.includes('open'));
    return { events, socket };
  }

  async refusals(headers: Headers): Promise<readonly number[]> {
    return Promise.all(
      [
        ask(this.server.url, eventsPath, { headers, headOnly: true }),
        ask(this.server.url, socketPath, { headers, upgrade: true }),
      ].map(async (asked) => (await asked).status),
    );
  }

  /** As the node's operator sees it. */
  async counted(): Promise<number> {
    const { text } = await ask(this.server.url, '/metrics', { headers: administrator });
    return [...text.matchAll(/^ledgerplane_plugin_streams\{plugin="feeds",transport="\w+"\} (\d+)$/gmu)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  }

  /** Until its effect is visible. */
  async setEnabled(enabled: boolean): Promise<void> {
    const phase = enabled ? 'started' : 'stopped';
    const watching = await Watching.open(this.server.url, pluginPath, { transport: 'json', headers: administrator });
    await this.administration.call('PATCH', pluginPath, { spec: { enabled } });
    const reached = watching.until(
      ({ events }) => (events.at(-1)?.object['status'] as { phase?: string } | undefined)?.phase === phase,
    );
    // A call in flight must not reach its time limit meanwhile.
    await passing(this.clock, reached, pluginStopMs);
    watching.leave();
  }

  /** Nothing of the plugin's is left open. */
  async drained(): Promise<void> {
    while (this.held.events + this.held.sockets + this.held.calls > 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  }
}

const losses: readonly {
  readonly what: string;
  readonly given: (stage: Stage) => Promise<Headers>;
  readonly take: (stage: Stage) => Promise<void>;
}[] = [
  {
    what: 'the binding is deleted',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.remove('rolebindings', name),
  },
  {
    what: 'the role is deleted',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.remove('roles', name),
  },
  {
    what: 'the rule is of something else',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.merge('roles', name, { rules: [feedRule] }),
  },
  {
    what: 'the rule is to watch',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) =>
      administration.merge('roles', name, { rules: [{ ...streamRule, verbs: ['watch', 'list'] }] }),
  },
  {
    what: 'the password is another',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) =>
      administration.merge('users', name, { spec: { password: 'another password' } }),
  },
  {
    what: 'the user is disabled',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.merge('users', name, { spec: { disabled: true } }),
  },
  {
    what: 'the user is deleted',
    given: async (stage) => stage.user(),
    take: async ({ administration, name }) => administration.remove('users', name),
  },
  {
    what: 'the token is revoked',
    given: async (stage) => stage.token(),
    take: async ({ administration, name }) =>
      administration.merge('personalaccesstokens', name, { spec: { revoked: true } }),
  },
  {
    what: 'the token expires',
    given: async (stage) => stage.token({ expiresAt: new Date(stage.clock.now() + expiryMs).toISOString() }),
    take: async ({ clock }) => {
      clock.advance(expiryMs + watchGuardMs);
      return Promise.resolve();
    },
  },
];

test('events and sockets end when the permission for them does, and others continue', async (t) => {
  const stage = await Stage.open(t);
  const keeping = await stage.streams(as(bystander));
  for (const [index, { what, given, take }] of losses.entries()) {
    await t.test(what, async (t) => {
      stage.name = `case-${String(index)}`;
      const headers = await given(stage);
      const losing = await stage.streams(headers);
      t.equal(await stage.counted(), 4);
      await take(stage);
      t.strictSame([await losing.events.ended(), await losing.socket.ended()], [0, 4403]);
      t.ok(
        (await stage.refusals(headers)).every((status) => status === 401 || status === 403),
        'nor can they be opened again',
      );
      while (stage.held.events + stage.held.sockets > 2)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      t.strictSame(
        [stage.held.events, stage.held.sockets, await stage.counted()],
        [1, 1, 2],
        'only the others are left',
      );
      t.strictSame([keeping.events.closed, keeping.socket.closed], [undefined, undefined]);
    });
  }
  keeping.events.leave();
  keeping.socket.leave();
  await stage.drained();
  t.equal(await stage.counted(), 0);
});

test("the client in an open stream has its caller's current rights", async (t) => {
  const stage = await Stage.open(t);
  const socket = new WebSocket(`${stage.server.url.replace('http', 'ws')}${socketPath}`, { headers: as(bystander) });
  const next = async (): Promise<string> => String(((await once(socket, 'message')) as [Buffer])[0]);
  t.equal(await next(), 'open');
  const looked = async (): Promise<string> => {
    socket.send('a');
    return next();
  };
  t.equal(await looked(), 'a');
  await stage.administration.merge('roles', bystander, { rules: [streamRule] });
  t.equal(await looked(), '403');
  await stage.administration.merge('roles', bystander, { rules: [streamRule, feedRule] });
  t.equal(await looked(), 'a');
  socket.close();
  await once(socket, 'close');
});

test('disabling a plugin ends its streams, and earlier requests to it leave nothing behind', async (t) => {
  const stage = await Stage.open(t);
  const timers = stage.clock.timers;
  for (let round = 0; round < 5; round += 1) {
    const streams = await stage.streams(as(bystander));
    let answer: (answered: unknown) => void = () => undefined;
    const calls: Promise<number>[] = [];
    stage.held.answer = new Promise((resolve) => {
      answer = resolve;
    });
    for (let count = 1; count <= 3; count += 1) {
      const called = new Promise<void>((resolve) => {
        stage.held.called = resolve;
      });
      calls.push(ask(stage.server.url, callPath, { headers: as(bystander) }).then(({ status }) => status));
      await called;
    }
    const disabled = stage.setEnabled(false);
    t.strictSame([await streams.events.ended(), await streams.socket.ended()], [0, 1012]);
    await disabled;
    t.strictSame(await stage.refusals(as(bystander)), [404, 404]);
    // In order: a normal answer, events that may not begin any more, a timeout.
    if (round === 0) answer({ body: 'late' });
    else if (round === 1) answer('events');
    else stage.clock.advance(pluginRouteMs);
    t.strictSame(await Promise.all(calls), Array<number>(3).fill([200, 503][round] ?? 504), `round ${String(round)}`);
    await stage.drained();
    await stage.setEnabled(true);
    t.equal(await stage.counted(), 0);
  }
  t.ok(stage.clock.timers <= timers, `${String(timers)} timers before, ${String(stage.clock.timers)} after`);
});

test('on SIGTERM streams end and requests in flight are answered', async (t) => {
  const cwd = await temporaryFolder(t);
  const server = runCommandLine(['serve'], {
    cwd,
    env: {
      PORT: '0',
      DATA_DIR: 'data',
      LOG_LEVEL: 'error',
      ADMIN_PASSWORD: testPassword,
      PLUGINS_DIRS: await pluggedIn(t),
    },
  });
  const url = / on (\S+) /u.exec(await server.ready())?.[1] ?? '';
  const events = await Watching.open(url, eventsPath, { transport: 'sse', headers: administrator });
  const socket = await Watching.open(url, socketPath, { transport: 'websocket', headers: administrator });
  for (const watching of [events, socket]) await watching.until(({ texts }) => texts.includes('open'));
  // Answers once the events have ended.
  const called = ask(url, callPath, { headers: administrator });
  await events.until(({ texts }) => texts.includes('called'));
  server.child.kill('SIGTERM');
  t.strictSame([await events.ended(), await socket.ended()], [0, 1012]);
  const { status, text } = await called;
  t.strictSame([status, text], [200, '"drained"']);
  t.equal(await server.exited(), 0);
  t.equal(server.stderr(), '');
});
