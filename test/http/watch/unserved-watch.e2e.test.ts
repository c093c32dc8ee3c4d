/** A watch where no type is served: what its verb is, and what its holder is answered, over every transport. */
import { test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { Administration, as, type Rule } from '../../support/server/administration.ts';
import { ask, type Answered, type Asked } from '../../support/ask.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';

const gateName = 'ledgerplane test gate of depot';
const boxes = '/apis/depot.example/v1/boxes';
const custom = '/apis/api.depot.example/v1';

/** A type, and beside it a route and a socket of two segments each; loading waits for the test where that says so. */
const depot = `
const events = async function* () { yield { data: 'served' }; };
const handler = ({ headers }) => headers.accept === 'text/event-stream' ? { events: events() } : { body: 'served' };
export default async () => {
  await globalThis[Symbol.for('${gateName}')]?.();
  return {
    types: [{ group: 'depot.example', version: 'v1', kind: 'Box', singular: 'box', plural: 'boxes',
      statusSubresource: true,
      schema: { type: 'object', properties: { spec: { type: 'object' }, status: { type: 'object' } } } }],
    routes: [{ method: 'GET', path: '${custom}/lids/{name}', handler }],
    sockets: [{ path: '${custom}/feeds/{name}', handler: ({ send }) => { send('served'); } }],
  };
};
`;

const transports: readonly { readonly transport: string; readonly query: string; readonly asked: Asked }[] = [
  { transport: 'lines', query: '?watch=true', asked: {} },
  { transport: 'lines by 1', query: '?watch=1', asked: {} },
  { transport: 'lines by case', query: '?limit=5&watch=TRUE', asked: {} },
  { transport: 'events', query: '', asked: { headers: { accept: 'text/event-stream' } } },
  { transport: 'socket', query: '', asked: { upgrade: true } },
];

type Seen = {
  readonly transport: string;
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
};

class Caller {
  readonly #server: TestServer;
  readonly #administration: Administration;

  constructor(server: TestServer) {
    this.#server = server;
    this.#administration = new Administration(server.url);
  }

  async ready(): Promise<void> {
    await this.#administration.user('caller');
    await this.#administration.role('one-rule');
    await this.#administration.bind('caller', 'one-rule', 'caller');
  }

  async may(...rules: readonly Rule[]): Promise<void> {
    await this.#administration.merge('roles', 'one-rule', { rules });
  }

  async ask(path: string, asked: Asked = {}): Promise<Answered> {
    return ask(this.#server.url, path, { headOnly: false, ...asked, headers: { ...as('caller'), ...asked.headers } });
  }

  /** The same watch by every transport. */
  async watch(path: string): Promise<readonly Seen[]> {
    const answers: Seen[] = [];
    for (const { transport: by, query, asked } of transports) {
      const { status, headers, text } = await this.ask(`${path}${query}`, asked);
      answers.push({ transport: by, status, retryAfter: headers['retry-after'], text });
    }
    return answers;
  }

  async enable(enabled: boolean): Promise<void> {
    await this.#administration.call('PATCH', '/apis/plugin.svc.run/v1alpha1/plugins/depot', { spec: { enabled } });
  }

  async status(path: string): Promise<number> {
    return (await ask(this.#server.url, path, { headers: as('caller') })).status;
  }
}

function statuses(answers: readonly Seen[]): readonly string[] {
  return answers.map(({ transport: by, status }) => `${by}: ${String(status)}`);
}

function all(status: number): readonly string[] {
  return transports.map(({ transport }) => `${transport}: ${String(status)}`);
}

const resource = (group: string, resources: string, verbs: string): Rule => ({
  apiGroups: [group],
  resources: resources.split(','),
  verbs: verbs.split(','),
});

test('a caller that may watch learns that nothing is served, and not that the right was revoked', async (t) => {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, {
    depot: { 'plugin.yaml': manifestYaml('depot', { main: 'main.mjs' }), 'main.mjs': depot },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  t.teardown(async () => server.remove());
  const caller = new Caller(server);
  await caller.ready();

  await t.test('a type without a plugin', async (t) => {
    await caller.may(resource('none.example', 'things', 'watch'));
    for (const path of [
      '/apis/none.example/v1/things',
      '/apis/none.example/v1/things/a',
      '/apis/none.example/v1/things/-',
      '/apis/none.example/v1/%74hings/a/',
    ]) {
      t.strictSame(statuses(await caller.watch(path)), all(404), path);
    }
    t.strictSame(statuses(await caller.watch('/apis/none.example/v1/others')), all(403), 'another resource');
    t.match(
      (await caller.watch('/apis/none.example/v1/others'))[0]?.text,
      /cannot watch resource/u,
      'the verb of a refusal is the verb asked for',
    );
    t.strictSame(
      statuses(await caller.watch('/apis/none.example/v1/things/a/status')),
      all(403),
      'a subresource is read and not watched',
    );
    for (const query of ['', '?watch=false', '?watch=0', '?watch=FALSE'])
      t.equal(await caller.status(`/apis/none.example/v1/things${query}`), 403, `list${query}`);
    for (const [query, status] of [
      ['watch=true', 404],
      ['watch=false', 403],
    ] as const) {
      const head = await caller.ask(`/apis/none.example/v1/things?${query}`, { method: 'HEAD' });
      t.equal(head.status, status, `HEAD asks for what GET does: ${query}`);
    }
    t.strictSame(statuses(await caller.watch('/apis/none.example/v1')), all(404), 'discovery is read by everybody');
    await caller.may(resource('none.example', 'things', 'list,get'), resource('none.example', 'things/status', 'get'));
    t.strictSame(statuses(await caller.watch('/apis/none.example/v1/things')), all(403), 'list does not include watch');
    t.equal(await caller.status('/apis/none.example/v1/things'), 404);
    t.strictSame(statuses(await caller.watch('/apis/none.example/v1/things/a/status')), all(404), 'a subresource');
  });

  await t.test('a path that the plugin serves itself is read', async (t) => {
    await caller.may(resource('api.depot.example', 'lids,feeds', 'get'));
    const [, , , events] = await caller.watch(`${custom}/lids/a`);
    t.match(events, { status: 200, text: 'data: served\n\n' });
    t.equal((await caller.ask(`${custom}/lids/a?watch=true`)).text, '"served"');
    t.equal((await caller.ask(`${custom}/feeds/a`, { upgrade: true })).status, 101);
    await caller.may(resource('api.depot.example', 'lids,feeds', 'watch'));
    t.strictSame(
      [...statuses(await caller.watch(`${custom}/lids/a`)), ...statuses(await caller.watch(`${custom}/feeds/a`))],
      [...all(403), ...all(403)],
    );
    t.match((await caller.ask(`${custom}/feeds/a`, { upgrade: true })).text, /cannot get resource/u);
  });

  await t.test('a path that the platform serves itself is read', async (t) => {
    await caller.may();
    t.equal((await caller.ask('/apis/uc.api.svc.run/v1alpha1/users/-?watch=true')).status, 200);
    t.equal((await caller.ask('/apis/uc.api.svc.run/v1alpha1/personalaccesstokens?watch=true')).status, 405);
  });

  await t.test('a plugin that is disabled, and enabled again', async (t) => {
    await caller.may(resource('depot.example', 'boxes', 'watch'), resource('depot.example', 'boxes/status', 'get'));
    t.equal((await caller.ask(`${boxes}?watch=true`, { headOnly: true })).status, 200);
    await caller.enable(false);
    while ((await caller.ask(`${boxes}?watch=true`, { headOnly: true })).status === 200);
    for (const path of [boxes, `${boxes}/a`, `${boxes}/a/status`])
      t.strictSame(statuses(await caller.watch(path)), all(404), path);
    await caller.may(resource('api.depot.example', 'lids,feeds', 'watch'));
    for (const path of [`${custom}/lids/a`, `${custom}/feeds/a`])
      t.strictSame(statuses(await caller.watch(path)), all(404), path);
    await caller.may(resource('depot.example', 'boxes', 'watch'));

    let goOn: () => void = () => undefined;
    const loading = new Promise<void>((began) => {
      Object.assign(globalThis, {
        [Symbol.for(gateName)]: async () => {
          began();
          return new Promise<void>((resolve) => {
            goOn = resolve;
          });
        },
      });
    });
    await caller.enable(true);
    await loading;
    for (const path of [boxes, `${boxes}/a`, `${boxes}/a/status`, `${custom}/lids/a`, `${custom}/feeds/a`]) {
      const answered = await caller.watch(path);
      t.strictSame(statuses(answered), all(503), `${path} while it is loading`);
      t.ok(
        answered.every(({ retryAfter }) => retryAfter === '1'),
        path,
      );
    }
    goOn();
    for (let status = 503; status !== 200;) ({ status } = await caller.ask(`${boxes}?watch=true`, { headOnly: true }));
    t.equal((await caller.ask(`${boxes}/a`, { upgrade: true })).status, 101);
    await caller.enable(false);
    while ((await caller.ask(`${boxes}?watch=true`, { headOnly: true })).status === 200);
    t.strictSame(statuses(await caller.watch(boxes)), all(404), 'it came and went');
  });
});
