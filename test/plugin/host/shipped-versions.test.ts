/** Objects that a plugin ships, whose type moves to another version: they are merged in that version. */
import { join } from 'node:path';

import { test, type Test } from 'tap';

import {
  domain,
  manifestYaml,
  mergePatch,
  openStage,
  temporaryFolder,
  writePlugins,
  type Condition,
  type Stage,
} from './host-stage.ts';

const parts = 'parts.parts.example';

const schemaOf = (member: string): string => `{ type: 'object', properties: { spec: { type: 'object',
  additionalProperties: false, properties: { ${member}: { type: 'string' }, size: { type: 'integer' },
    note: { type: 'string' }, list: { type: 'array', items: { type: 'integer' } } } } } }`;

const typeOf = (version: string, member: string, more = ''): string => `export default { types: [{
  group: 'parts.example', version: '${version}', kind: 'Part', singular: 'part', plural: 'parts',
  schema: ${schemaOf(member)}, indexes: [{ name: 'spec.${member}' }], ${more} }] };`;

/** `title` becomes `name`, which the conversion writes with an exclamation mark less. */
const versions = `versions: [
    { name: 'v1alpha1', schema: ${schemaOf('title')}, examples: [{ spec: { title: 'a!' } }] },
    { name: 'v1', examples: [{ spec: { name: 'a' } }] } ],
  convert: [{ from: 'v1alpha1', to: 'v1',
    up: ({ spec: { title, ...spec }, ...part }) => ({ ...part, spec: { ...spec, name: title.slice(0, -1) } }),
    down: ({ spec: { name, ...spec }, ...part }) => ({ ...part, spec: { ...spec, title: name + '!' } }) }]`;

const older = typeOf('v1alpha1', 'title');
const newer = typeOf('v1', 'name', versions);

type Specs = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Writes the plugin with the objects, and starts a host. */
async function started(t: Test, root: string, { main, version, specs }: Package): Promise<Stage> {
  const objects = Object.entries(specs).map(([name, spec]) =>
    JSON.stringify({ apiVersion: `parts.example/${version}`, kind: 'Part', metadata: { name }, spec }),
  );
  const files = { 'plugin.yaml': manifestYaml('parts', { main: 'main.mjs' }), 'main.mjs': main };
  await writePlugins(join(root, 'plugins'), { parts: { ...files, 'extensions/parts.yaml': objects.join('\n---\n') } });
  const stage = await openStage(t, { dataDir: join(root, 'data'), extra: [join(root, 'plugins')] });
  t.equal(stage.phase('parts'), 'started', stage.ready('parts'));
  return stage;
}

type Package = { readonly main: string; readonly version: string; readonly specs: Specs };

const first = (specs: Specs): Package => ({ main: older, version: 'v1alpha1', specs });
const second = (specs: Specs): Package => ({ main: newer, version: 'v1', specs });

function keptIn(stage: Stage): Condition | undefined {
  return stage.conditions('parts').find(({ type }) => type === 'ChangesKept');
}

test('a renamed member has the value of the package, and the change of a user stays', async (t) => {
  const root = await temporaryFolder(t);
  const [long, longer] = ['x'.repeat(200), 'y'.repeat(300)];
  const before = await started(
    t,
    root,
    first({
      one: { title: 'Old!', size: 1, note: 'a' },
      long: { title: `${long}!`, size: 1, note: long },
      same: { title: 'Same!', size: 1 },
      edited: { title: 'Title!', size: 1 },
      both: { title: `${long}!`, note: long },
    }),
  );
  await before.write(parts, mergePatch('one', { spec: { size: 5 } }));
  await before.write(parts, mergePatch('edited', { spec: { title: 'Mine!' } }));
  await before.write(parts, mergePatch('both', { spec: { note: 'mine' } }));
  await before.close();
  const after = await started(
    t,
    root,
    second({
      one: { name: 'New', size: 1, note: 'b' },
      long: { name: longer, size: 2, note: long },
      same: { name: 'Same', size: 1 },
      edited: { name: 'Title', size: 2 },
      both: { name: longer, note: longer },
    }),
  );
  const specOf = (name: string): unknown => after.object(parts, name)?.['spec'];
  t.same(specOf('one'), { name: 'New', size: 5, note: 'b' });
  t.same(specOf('long'), { name: longer, size: 2, note: long }, 'long values, of which only hashes are recorded');
  t.same(specOf('same'), { name: 'Same', size: 1 });
  t.same(specOf('edited'), { name: 'Mine', size: 2 });
  t.same(specOf('both'), { name: longer, note: 'mine' });
  t.equal(
    keptIn(after)?.message.replace(/^.*kept: /u, ''),
    'Part both: /spec/note',
    'only a value that both changed is reported',
  );
  const events = await after.events();
  await after.close();
  const again = await started(t, root, second({ one: { name: 'Next', size: 1, note: 'b' } }));
  t.same(again.object(parts, 'one')?.['spec'], { name: 'Next', size: 5, note: 'b' });
  t.ok((await again.events()) > events);
  t.equal(again.object(parts, 'same'), undefined, 'no longer shipped');
  t.match(again.object(parts, 'edited'), { spec: { name: 'Mine' } }, 'changed by a user');
  await again.close();
});

test('an object that the new version no longer ships is removed, unless a user changed it', async (t) => {
  const root = await temporaryFolder(t);
  const before = await started(t, root, first({ gone: { title: 'A!', size: 1 }, mine: { title: 'A!', size: 1 } }));
  await before.write(parts, mergePatch('mine', { spec: { size: 2 } }));
  await before.close();
  const after = await started(t, root, second({}));
  t.equal(after.object(parts, 'gone'), undefined);
  t.match(after.object(parts, 'mine'), { apiVersion: 'parts.example/v1', spec: { name: 'A', size: 2 } });
  t.match(keptIn(after), { message: /Part mine: no longer declared; kept because users have changed it/u });
  await after.close();
});

test('a base that cannot be converted is compared as it is: no change of a user is lost', async (t) => {
  const root = await temporaryFolder(t);
  const before = await started(t, root, first({ one: { size: 1, note: 'a' } }));
  await before.write(parts, mergePatch('one', { spec: { title: 'Mine!', size: 5 } }));
  await before.close();
  const after = await started(t, root, second({ one: { name: 'New', size: 1, note: 'b' } }));
  t.same(after.object(parts, 'one')?.['spec'], { name: 'Mine', size: 5, note: 'b' });
  t.match(keptIn(after), { message: /Part one: \/spec\/name/u });
  await after.close();
});

test('an object that cannot be converted stays as it is, and the plugin starts', async (t) => {
  const root = await temporaryFolder(t);
  const specs = { one: { title: 'Old!', size: 1 }, two: { title: 'Old!', size: 1 } };
  const before = await started(t, root, first(specs));
  await before.write(parts, mergePatch('one', { spec: { title: null, size: 5 } }));
  await before.close();
  const next = { one: { name: 'New', size: 2 }, two: { name: 'New', size: 2 } };
  const after = await started(t, root, second(next));
  t.match(after.object(parts, 'one'), { apiVersion: 'parts.example/v1alpha1', spec: { size: 5 } });
  t.match(after.object(parts, 'two'), { apiVersion: 'parts.example/v1', spec: { name: 'New', size: 2 } });
  const unconverted = after.conditions('parts').find(({ type }) => type === 'ObjectsUnconverted');
  t.match(unconverted?.message, /the first of the objects is "one": the conversion .* threw: .*\(at main\.mjs:\d+\)$/u);
  await after.close();
  const corrected = newer.replace('title.slice(0, -1)', "title?.slice(0, -1) ?? 'None'");
  const healed = await started(t, root, { main: corrected, version: 'v1', specs: next });
  t.match(healed.object(parts, 'one'), { apiVersion: 'parts.example/v1', spec: { name: 'None', size: 5 } });
  t.notOk(healed.conditions('parts').some(({ type }) => type === 'ObjectsUnconverted'));
  await healed.close();
});

test('the record of an annotation that has no version is used as it is', async (t) => {
  const root = await temporaryFolder(t);
  const key = `plugin.${domain}/last-applied`;
  const before = await started(t, root, second({ one: { name: 'Old', size: 1 } }));
  const { apiVersion, ...record } = JSON.parse(
    (before.object(parts, 'one') as { metadata: { annotations: Record<string, string> } }).metadata.annotations[key] ??
      '',
  ) as Record<string, unknown>;
  t.equal(apiVersion, 'parts.example/v1');
  const annotations = { [key]: JSON.stringify(record) };
  await before.write(parts, mergePatch('one', { metadata: { annotations }, spec: { size: 5 } }));
  await before.close();
  const after = await started(t, root, second({ one: { name: 'New', size: 1 } }));
  t.same(after.object(parts, 'one')?.['spec'], { name: 'New', size: 5 });
  await after.close();
});
