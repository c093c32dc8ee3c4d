/** A rule that names a stopped plugin allows nothing; the refusal names the reason to the rule's subjects. */
import { test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { ask, type Answered, type Asked } from '../../support/ask.ts';
import { runCommandLine } from '../../support/server/command-line.ts';
import { adminAuthorization, startTestServer, testPassword } from '../../support/server/start-server.ts';

const depot = `export default {
  types: [{ group: 'depot.example', version: 'v1', kind: 'Box', singular: 'box', plural: 'boxes',
    statusSubresource: true,
    schema: { type: 'object', properties: { spec: { type: 'object' }, status: { type: 'object' } } } }],
  routes: [{ method: 'GET', path: '/apis/api.depot.example/v1/lids/{name}', handler: () => ({ body: 'served' }) }],
};\n`;
const broken = 'throw new Error("broken");\n';
const boxes = '/apis/depot.example/v1/boxes';
const stopped = 'the plugin "depot" is stopped';
const plugins = '/apis/plugin.svc.run/v1alpha1/plugins';

type Reviewed = { readonly allowed: boolean; readonly reason: string };

test('a refusal names the state of a plugin to callers whose rules name it, and to nobody else', async (t) => {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, {
    depot: { 'plugin.yaml': manifestYaml('depot', { main: 'main.mjs' }), 'main.mjs': depot },
    broken: { 'plugin.yaml': manifestYaml('broken', { main: 'main.mjs' }), 'main.mjs': broken },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  t.teardown(async () => server.remove());
  const administration = new Administration(server.url);
  const groups = ['depot.example', 'api.depot.example'];
  const resources = ['depot/boxes', 'depot/boxes/status', 'depot/lids', 'broken/crates', 'nobody/boxes'];
  const own = { resources: ['depot/boxes'] };
  await administration.role('of-depot', {
    rules: [{ apiGroups: groups, resources, verbs: ['get', 'list', 'watch', 'create'] }],
  });
  await administration.role('of-one', { rules: [{ ...own, apiGroups: groups, resourceNames: ['a'], verbs: ['get'] }] });
  await administration.role('of-none', { rules: [{ ...own, apiGroups: ['other.example'], verbs: ['*'] }] });
  for (const name of ['of-depot', 'of-one', 'of-none', 'nothing']) await administration.user(name);
  for (const name of ['of-depot', 'of-one', 'of-none']) await administration.bind(name, name, name);

  const call = async (name: string, path: string, asked: Asked = {}): Promise<Answered> =>
    ask(server.url, path, { ...asked, headers: { ...as(name), 'content-type': 'application/json', ...asked.headers } });
  const reviewed = async (name: string, attributes: object): Promise<Reviewed> => {
    const body = JSON.stringify({ spec: { resourceAttributes: attributes } });
    const { text } = await call(name, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      method: 'POST',
      body,
    });
    return (JSON.parse(text) as { readonly status: Reviewed }).status;
  };
  const listing = { verb: 'list', group: 'depot.example', resource: 'boxes' };
  t.equal((await call('of-depot', boxes)).status, 200);
  t.match(await reviewed('of-depot', listing), { allowed: true, reason: /allowed by rule 1/u });
  await administration.call('PATCH', `${plugins}/depot`, { spec: { enabled: false } });
  const phase = async (): Promise<string> => {
    const { text } = await administration.call('GET', `${plugins}/depot`);
    return (JSON.parse(text) as { readonly status: { readonly phase: string } }).status.phase;
  };
  while ((await phase()) !== 'stopped');

  await t.test('callers whose rules name it', async (t) => {
    const lid = '/apis/api.depot.example/v1/lids/a';
    for (const path of [boxes, `${boxes}/a`, `${boxes}/-`, `${boxes}/a/status`, `${boxes}?watch=true`, lid]) {
      const { status, text } = await call('of-depot', path);
      t.match([status, text], [403, new RegExp(`cannot .*: ${stopped.replaceAll('"', '..')}`, 'u')], path);
    }
    t.equal((await call('of-depot', boxes, { upgrade: true })).status, 403);
    t.equal((await call('of-depot', boxes, { method: 'POST', body: '{}' })).status, 403);
    t.strictSame(await reviewed('of-depot', listing), { allowed: false, reason: stopped });
    t.strictSame(await reviewed('of-depot', { ...listing, version: 'v1' }), { allowed: false, reason: stopped });
    t.strictSame(await reviewed('of-one', { ...listing, verb: 'get', name: 'a' }), { allowed: false, reason: stopped });
  });

  await t.test('reviewers of other users', async (t) => {
    const body = { spec: { user: 'of-depot', resourceAttributes: listing } };
    const { text } = await administration.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', body);
    t.match(JSON.parse(text), { status: { allowed: false, reason: stopped } });
    const run = runCommandLine(['can-i', 'list', 'boxes.depot.example', '--as', 'of-depot', '--user', 'admin'], {
      cwd: folder,
      env: { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword },
    });
    t.equal(await run.exited(), 1);
    t.match(run.stdout(), new RegExp(`^no\\n${stopped}\\n$`, 'u'));
  });

  await t.test('nobody else', async (t) => {
    const asked = [
      ['nothing', boxes],
      ['nothing', `${boxes}/a/status`],
      ['of-none', boxes],
      ['of-none', `${boxes}/a`],
      ['of-one', `${boxes}/b`],
      ['of-one', boxes],
      ['of-one', `${boxes}/a/status`],
      ['of-depot', `${boxes}/a/finalizers`],
      ['of-depot', '/apis/depot.example/v1/crates2'],
      ['of-depot', '/apis/other.example/v1/boxes'],
    ] as const;
    for (const [name, path] of asked) {
      const { status, text } = await call(name, path);
      t.equal(status, 403);
      t.notMatch(text, /plugin|stopped/u, `${name} ${path}`);
    }
    t.notMatch((await ask(server.url, boxes)).text, /plugin|stopped/u, 'a visitor');
    t.match(await reviewed('nothing', listing), { allowed: false, reason: /^no rule of the roles/u });
    const other = await reviewed('of-one', { ...listing, verb: 'get', name: 'b' });
    t.match(other, { allowed: false, reason: /^no rule of the roles/u });
  });

  await t.test('a failed plugin, and a restarted one', async (t) => {
    t.match(
      (await reviewed('of-depot', { ...listing, resource: 'crates' })).reason,
      /^the plugin "broken" has failed$/u,
    );
    await administration.call('PATCH', `${plugins}/depot`, { spec: { enabled: true } });
    let answered = await call('of-depot', boxes);
    while (answered.status !== 200) answered = await call('of-depot', boxes);
    t.match(await reviewed('of-depot', listing), { allowed: true });
    t.equal((await ask(server.url, boxes, { headers: { authorization: adminAuthorization } })).status, 200);
  });
});
