/** Objects created on one node and used on the other in the very next request. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test } from 'tap';
import type { Test } from 'tap';

import { core, passwordOf } from '../support/server/administration.ts';
import { basic } from '../support/ask.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { logSettings } from '../support/memory/event-log.ts';
import { startLogServer, commentServer } from './support/log-server.ts';

t.setTimeout(200_000);

const rounds = Number(process.env['MADE_ELSEWHERE_ROUNDS'] ?? 10);
const console = '/apis/api.console.svc.run/v1alpha1';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects are matched, not typed
type Answer = { readonly status: number; readonly json: any };

async function logIn(server: TestServer, username: string, password: string): Promise<number> {
  const { status } = await fetch(`${server.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  return status;
}

async function send(server: TestServer, path: string, init: Parameters<TestServer['call']>[1] = {}): Promise<Answer> {
  const response = await server.call(path, init);
  const text = await response.text();
  return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : {} };
}

async function startNodes(t: Test): Promise<readonly [TestServer, TestServer]> {
  commentServer(t);
  const log = await startLogServer(t);
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-made-elsewhere-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async (name: string): Promise<TestServer> => {
    const server = await startTestServer({ dataDir: join(folder, name), environment: { ...logSettings(log) } });
    t.teardown(async () => server.close());
    return server;
  };
  return [await start('first'), await start('second')];
}

test('a user, role, assignment and token of one node are known to the other on the next request', async (t) => {
  const nodes = await startNodes(t);
  for (let round = 0; round < rounds; round += 1) {
    const [here, there] = round % 2 === 0 ? nodes : [nodes[1], nodes[0]];
    const name = `user-${round.toString()}`;
    const role = `role-${round.toString()}`;
    t.equal(
      (
        await send(here, core('users'), {
          method: 'POST',
          body: { metadata: { name }, spec: { password: passwordOf(name) } },
        })
      ).status,
      201,
    );
    t.equal(await logIn(there, name, passwordOf(name)), 200, 'a user created here logs in there');
    t.equal(
      (
        await send(here, core('roles'), {
          method: 'POST',
          body: {
            metadata: { name: role },
            rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['list'] }],
          },
        })
      ).status,
      201,
    );
    const given = await send(there, `${console}/users/${name}/permissions`, {
      method: 'POST',
      body: { roles: [role] },
    });
    t.equal(given.status, 200, `a role made here is given there: ${JSON.stringify(given.json)}`);
    t.match(given.json, { roles: [{ metadata: { name: role } }] });
    const shown = await send(here, `${console}/users/${name}/permissions`);
    t.equal(shown.status, 200);
    const later = `later-${round.toString()}`;
    t.equal(
      (
        await send(here, core('users'), {
          method: 'POST',
          body: { metadata: { name: later }, spec: { password: passwordOf(later) } },
        })
      ).status,
      201,
    );
    t.equal(
      (await send(there, `${console}/users/${later}/permissions`, { method: 'POST', body: { roles: [role] } })).status,
      200,
      'to somebody made here',
    );
    const changed = await send(here, core('users', name), {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: { password: `another ${passwordOf(name)}` } },
    });
    t.equal(changed.status, 200);
    t.equal(await logIn(there, name, `another ${passwordOf(name)}`), 200, 'the new password counts');
    const own = { authorization: basic(name, `another ${passwordOf(name)}`) };
    const token = await send(there, '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens', {
      method: 'POST',
      headers: own,
      body: { metadata: { generateName: 't-' }, spec: { description: 'of the test' } },
    });
    t.equal(token.status, 201, JSON.stringify(token.json));
    t.equal(
      (
        await send(here, '/apis/uc.api.svc.run/v1alpha1/users/-', {
          headers: { authorization: `Bearer ${String(token.json.status.token)}` },
        })
      ).status,
      200,
      'and a token of there counts here',
    );
  }
});

test('of two super administrators removed simultaneously, each on its own node, one stays', async (t) => {
  const nodes = await startNodes(t);
  const bind = async (binding: string, name: string): Promise<void> => {
    const made = await send(nodes[0], core('rolebindings'), {
      method: 'POST',
      headers: asAnn,
      body: {
        metadata: { name: binding },
        roleRef: { kind: 'Role', name: 'super-role' },
        subjects: [{ kind: 'User', name }],
      },
    });
    if (made.status !== 201) throw new Error(JSON.stringify(made.json));
  };
  const bound = async (): Promise<readonly string[]> => {
    const { json } = await send(nodes[0], core('rolebindings'), { headers: asAnn });
    return (
      json.items as readonly {
        readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
        readonly roleRef: { readonly name: string };
      }[]
    )
      .filter(({ metadata, roleRef }) => roleRef.name === 'super-role' && metadata.deletionTimestamp === undefined)
      .map(({ metadata: { name } }) => name);
  };
  const asAnn = { authorization: basic('ann', passwordOf('ann')) };
  for (const name of ['ann', 'bob'])
    t.equal(
      (
        await send(nodes[0], core('users'), {
          method: 'POST',
          body: { metadata: { name }, spec: { password: passwordOf(name) } },
        })
      ).status,
      201,
    );
  t.equal(
    (
      await send(nodes[0], core('rolebindings'), {
        method: 'POST',
        body: {
          metadata: { name: 'of-ann' },
          roleRef: { kind: 'Role', name: 'super-role' },
          subjects: [{ kind: 'User', name: 'ann' }],
        },
      })
    ).status,
    201,
  );
  // From here on ann asks: her own binding is never the first one to be removed.
  for (const name of await bound())
    if (name !== 'of-ann')
      t.equal((await send(nodes[0], core('rolebindings', name), { method: 'DELETE', headers: asAnn })).status, 200);
  let mine = 'of-ann';
  for (let round = 0; round < rounds; round += 1) {
    const [one, other] = [`one-${round.toString()}`, `other-${round.toString()}`];
    await bind(one, 'ann');
    await bind(other, 'bob');
    t.equal((await send(nodes[0], core('rolebindings', mine), { method: 'DELETE', headers: asAnn })).status, 200);
    const answers = await Promise.all(
      [one, other].map(async (name, index) =>
        send(nodes[index]!, core('rolebindings', name), { method: 'DELETE', headers: asAnn }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    t.equal(statuses.filter((status) => status === 200).length, 1, `one goes and one stays: ${statuses.join()}`);
    if (statuses[0] === 200) {
      // Bob is left: he gives it back.
      const given = await send(nodes[0], core('rolebindings'), {
        method: 'POST',
        headers: { authorization: basic('bob', passwordOf('bob')) },
        body: {
          metadata: { name: `again-${round.toString()}` },
          roleRef: { kind: 'Role', name: 'super-role' },
          subjects: [{ kind: 'User', name: 'ann' }],
        },
      });
      t.equal(given.status, 201, JSON.stringify(given.json));
      mine = `again-${round.toString()}`;
      t.equal((await send(nodes[0], core('rolebindings', other), { method: 'DELETE', headers: asAnn })).status, 200);
    } else {
      mine = one;
    }
    t.strictSame(await bound(), [mine]);
  }
});
