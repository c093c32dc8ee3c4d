/** Previews of deletions, on a real server with a plugin whose types name each other by every policy. */
import { test, type Test } from 'tap';

import { impactCountedMax, impactShownMax, previewedDeletionsMax } from '../../../src/limits/objects.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { ask } from '../../support/ask.ts';
import { Administration, as, type Rule } from '../../support/server/administration.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const path = '/apis/api.console.svc.run/v1alpha1/deletionpreviews';
const policies = ['refuse', 'cascade', 'clear', 'orphan'] as const;
const type = (kind: string, plural: string, more = ''): string =>
  `{ group: 'goods.example', version: 'v1', kind: '${kind}', singular: '${kind.toLowerCase()}', plural: '${plural}',
    schema: { type: 'object', properties: { spec: { type: 'object', properties: {
      ${policies.map((policy) => `${policy}: { type: 'string' }`).join(', ')} } } } }${more} }`;
const references = policies
  .map((policy) => `{ field: 'spec.${policy}', to: 'groups.goods.example', onMissing: 'allow', onDelete: '${policy}' }`)
  .join(', ');
const moduleText = `export default { types: [
  ${type('Group', 'groups')}, ${type('Link', 'links', `, references: [${references}]`)}] };\n`;

type Concerned = {
  readonly total: number;
  readonly isMore: boolean;
  readonly hidden: number;
  readonly items: readonly { readonly type?: string; readonly name: string; readonly effect?: string }[];
};
type Previewed = {
  readonly name: string;
  readonly refusal?: { readonly status: number; readonly reason: string; readonly detail: string };
  readonly finalizers?: readonly string[];
  readonly dependents?: Concerned;
  readonly references?: readonly (Concerned & {
    readonly type: string;
    readonly field: string;
    readonly onDelete: string;
  })[];
};
type Headers = Readonly<Record<string, string>>;

async function given(t: Test) {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    goods: { 'plugin.yaml': manifestYaml('goods', { main: 'main.mjs' }), 'main.mjs': moduleText },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(async () => server.remove());
  const administration = new Administration(server.url);
  const make = async (plural: string, name: string, spec: object = {}, metadata: object = {}): Promise<string> => {
    const body = { metadata: { name, ...metadata }, spec };
    const { text } = await administration.call('POST', `/apis/goods.example/v1/${plural}`, body);
    return (JSON.parse(text) as { readonly metadata: { readonly uid: string } }).metadata.uid;
  };
  const send = async (body: object, headers: Headers = { authorization: adminAuthorization }) =>
    ask(server.url, path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...headers, 'content-type': 'application/json' },
    });
  const preview = async (names: readonly string[], more: object = {}, headers?: Headers) => {
    const { status, text } = await send({ group: 'goods.example', resource: 'groups', names, ...more }, headers);
    if (status !== 200) throw new Error(text);
    return (JSON.parse(text) as { readonly items: readonly Previewed[] }).items;
  };
  const user = async (name: string, rules: readonly Rule[]): Promise<Headers> => {
    await administration.user(name);
    await administration.role(name, { rules });
    await administration.bind(name, name, name);
    return as(name);
  };
  return { server, administration, make, send, preview, user };
}

const none = { total: 0, isMore: false, items: [], hidden: 0 };

test('a preview has the refusal of a DELETE, the finalizers and the referring objects by policy', async (t) => {
  const { server, make, preview } = await given(t);
  for (const policy of policies) {
    await make('groups', policy);
    await make('links', `by-${policy}`, { [policy]: policy });
  }
  await make('groups', 'free');
  await make('groups', 'held', {}, { finalizers: ['example.com/hold'] });
  const items = await preview([...policies, 'free', 'held', 'absent', 'Not_A_Name']);
  const byName = new Map(items.map((item) => [item.name, item]));
  for (const policy of policies)
    t.strictSame(byName.get(policy)?.references, [
      {
        type: 'links.goods.example',
        field: `spec.${policy}`,
        onDelete: policy,
        total: 1,
        isMore: false,
        hidden: 0,
        items: [{ name: `by-${policy}` }],
      },
    ]);
  t.strictSame(byName.get('free'), { name: 'free', finalizers: [], dependents: none, references: [] });
  t.strictSame(byName.get('held')?.finalizers, ['example.com/hold']);
  for (const policy of ['cascade', 'clear'] as const)
    t.strictSame(byName.get(policy)?.finalizers, ['svc.run/references']);
  t.strictSame(byName.get('orphan')?.finalizers, []);
  for (const name of ['refuse', 'absent', 'Not_A_Name']) {
    const deleted = await server.call(`/apis/goods.example/v1/groups/${name}`, { method: 'DELETE' });
    const { code, reason, message } = (await deleted.json()) as Readonly<Record<string, unknown>>;
    t.strictSame(byName.get(name)?.refusal, { status: code, reason, detail: message }, name);
  }
  for (const name of ['free', 'cascade'])
    t.equal((await server.call(`/apis/goods.example/v1/groups/${name}`)).status, 200, 'nothing was deleted');
  t.strictSame(await preview(['free', 'free']), [byName.get('free')], 'a repeated name counts once');
});

test('dependents are deleted or released by the policy and by their other owners', async (t) => {
  const { make, preview } = await given(t);
  const owner = (name: string, uid: string) => ({ apiVersion: 'goods.example/v1', kind: 'Group', name, uid });
  const [one, other] = [await make('groups', 'one'), await make('groups', 'other')];
  await make('links', 'alone', {}, { ownerReferences: [owner('one', one)] });
  await make('links', 'shared', {}, { ownerReferences: [owner('one', one), owner('other', other)] });
  const effects = async (propagationPolicy?: string) => {
    const [item] = await preview(['one'], propagationPolicy === undefined ? {} : { propagationPolicy });
    return [
      item?.finalizers,
      item?.dependents?.items.map(({ type: of, name, effect }) => `${String(effect)} ${String(of)}/${name}`),
    ];
  };
  const deleting = ['delete links.goods.example/alone', 'release links.goods.example/shared'];
  t.strictSame(await effects(), [[], deleting]);
  t.strictSame(await effects('Background'), [[], deleting]);
  t.strictSame(await effects('Foreground'), [['foregroundDeletion'], deleting]);
  t.strictSame(await effects('Orphan'), [
    ['orphan'],
    ['release links.goods.example/alone', 'release links.goods.example/shared'],
  ]);
});

test('the counted and the named objects are bounded', async (t) => {
  const { make, preview } = await given(t);
  const uid = await make('groups', 'popular');
  const ownerReferences = [{ apiVersion: 'goods.example/v1', kind: 'Group', name: 'popular', uid }];
  await make('links', 'self-made', { cascade: 'popular' }, { ownerReferences });
  const count = async () => {
    const [item] = await preview(['popular']);
    return [item?.dependents, item?.references?.[0]].map((all) => [
      all?.total,
      all?.isMore,
      all?.items.length,
      all?.hidden,
    ]);
  };
  t.strictSame(await count(), [
    [1, false, 1, 0],
    [1, false, 1, 0],
  ]);
  for (let link = 1; link < impactCountedMax; link += 1)
    await make('links', `link-${String(link)}`, { cascade: 'popular' }, { ownerReferences });
  const full = [impactCountedMax, false, impactShownMax, impactCountedMax - impactShownMax];
  t.strictSame(await count(), [full, full]);
  await make('links', 'one-more', { cascade: 'popular' }, { ownerReferences });
  const more = [impactCountedMax, true, impactShownMax, impactCountedMax - impactShownMax];
  t.strictSame(await count(), [more, more]);
});

test('only objects that the caller may read are named, and each name needs the right to delete it', async (t) => {
  const { make, preview, send, user } = await given(t);
  const uid = await make('groups', 'mine');
  await make('groups', 'theirs');
  const ownerReferences = [{ apiVersion: 'goods.example/v1', kind: 'Group', name: 'mine', uid }];
  for (const name of ['seen', 'unseen']) await make('links', name, { refuse: 'mine' }, { ownerReferences });
  const jane = await user('jane', [
    { apiGroups: ['goods.example'], resources: ['groups'], resourceNames: ['mine'], verbs: ['delete'] },
    { apiGroups: ['goods.example'], resources: ['links'], resourceNames: ['seen'], verbs: ['get'] },
  ]);
  const [mine, theirs, absent] = await preview(['mine', 'theirs', 'absent'], {}, jane);
  t.match(mine?.refusal, { status: 409, reason: 'ObjectReferenced', detail: /: "seen" and others$/u });
  for (const all of [mine?.dependents, mine?.references?.[0]])
    t.match(all, { total: 2, items: [{ name: 'seen' }], hidden: 1 });
  t.notMatch(JSON.stringify(mine), /unseen/u);
  for (const other of [theirs, absent]) {
    t.match(other?.refusal, { status: 403, reason: 'Forbidden', detail: /cannot delete resource "groups"/u });
    t.strictSame(Object.keys(other ?? {}).sort(), ['name', 'refusal'], 'and nothing shows whether it exists');
  }
  t.equal((await send({ group: 'goods.example', resource: 'groups', names: ['mine'] }, {})).status, 401);
});

test('a malformed preview is refused, and a preview of many names is answered', async (t) => {
  const { send, preview } = await given(t);
  const many = Array.from({ length: previewedDeletionsMax }, (_, place) => `name-${String(place)}`);
  t.equal((await preview(many)).length, previewedDeletionsMax);
  for (const [status, body] of [
    [422, {}],
    [422, { resource: 'groups', group: 'goods.example', names: [] }],
    [422, { resource: 'groups', group: 'goods.example', names: [...many, 'one-more'] }],
    [422, { resource: 'groups', group: 'goods.example', names: [7] }],
    [422, { resource: 'groups', group: 'goods.example', names: ['a'], propagationPolicy: 'Never' }],
    [422, { resource: 'groups', group: 'goods.example', names: ['a'], dryRun: true }],
    [404, { resource: 'nothings', group: 'goods.example', names: ['a'] }],
    [404, { resource: 'groups', names: ['a'] }],
    [404, { resource: '__proto__', names: ['a'] }],
  ] as const)
    t.equal((await send(body)).status, status, JSON.stringify(body).slice(0, 120));
});
