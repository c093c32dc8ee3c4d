import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { ReferenceFollower } from '../../../reconcilers/references/reference-follower.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { fileType, groups, linkType, ReferringWriting, type Policy } from '../../support/referring.ts';
import { domain } from '../../support/sample.ts';
import { altered, shown, type WritingOptions } from '../../support/writing.ts';
import { Lead } from '../controller-stage.ts';

const finalizer = 'svc.run/references';

type Stage = {
  readonly given: ReferringWriting;
  readonly lead: Lead;
  readonly errors: unknown[];
  readonly follower: ReferenceFollower;
};

async function stage(t: Test, types: readonly ResourceType[], options: WritingOptions = {}): Promise<Stage> {
  const given = await ReferringWriting.open(t, types, options);
  const { models, clock, execute } = given.writing;
  const [lead, errors]: [Lead, unknown[]] = [new Lead(true), []];
  const served = [groups, ...types];
  const follower = new ReferenceFollower({
    changes: models,
    reader: models,
    references: models.references,
    bound: new ReconcileSlots(clock),
    leadership: lead,
    clock,
    uuid: () => 'r',
    onError: (error) => {
      errors.push(error);
    },
    types: (key) => served.find((type) => type.key === key),
    serving: () => served,
    execute,
    domain,
  });
  t.teardown(() => follower.stop());
  follower.open();
  return { given, lead, errors, follower };
}

async function idle({ given, follower }: Stage): Promise<void> {
  await given.writing.settle(follower.idle());
  await nextTurn();
  await given.writing.settle(follower.idle());
}

function specOf({ writing }: ReferringWriting, type: ResourceType, name: string): unknown {
  const stored = writing.models.get(type.key, name);
  return stored && (JSON.parse(Buffer.from(stored.bytes).toString()) as { readonly spec: unknown }).spec;
}

const follows = async (t: Test, onMissing: Policy['onMissing']): Promise<void> => {
  const links = linkType({ onMissing, onDelete: 'cascade' });
  const cascading = await stage(t, [links, fileType({ onMissing, onDelete: 'clear' })]);
  const { given } = cascading;
  for (const name of ['blue', 'red']) shown(await given.make('group', name));
  for (let index = 0; index < 300; index += 1)
    shown(await given.make('link', `l${String(index)}`, { group: 'blue', groups: ['red', 'blue'] }));
  shown(await given.make('link', 'other', { group: 'red' }));
  shown(await given.make('file', 'cleared', { group: 'l0', title: 'kept' }));
  const marked = shown(await given.delete('group', 'blue'));
  t.strictSame(marked.metadata.finalizers, [finalizer], 'the deletion waits');
  await idle(cascading);
  t.notOk(given.exists('group', 'blue'));
  t.notOk(['l0', 'l150', 'l299'].some((name) => given.exists('link', name)));
  t.ok(given.exists('link', 'other') && given.exists('group', 'red'));
  t.strictSame(specOf(given, given.typeOf('file'), 'cleared'), { title: 'kept' }, 'a chain is followed');
  t.strictSame(cascading.errors, []);
};

for (const onMissing of ['allow', 'refuse'] as const)
  test(`objects that name a deleted object are deleted or cleared (onMissing: ${onMissing})`, async (t) => {
    await follows(t, onMissing);
  });

test('a list keeps its other names', async (t) => {
  const links = linkType({ onMissing: 'allow', onDelete: 'clear' });
  const clearing = await stage(t, [links]);
  const { given } = clearing;
  for (const name of ['blue', 'red']) shown(await given.make('group', name));
  shown(await given.make('link', 'a', { group: 'blue', groups: ['blue', 'red', 'none'], title: 'a' }));
  shown(await given.delete('group', 'blue'));
  await idle(clearing);
  t.strictSame(specOf(given, links, 'a'), { groups: ['red', 'none'], title: 'a' });
  t.notOk(given.exists('group', 'blue'));
});

test('a deletion of an object that no other object names is one append', async (t) => {
  const { given } = await stage(t, [linkType({ onMissing: 'allow', onDelete: 'cascade' })]);
  shown(await given.make('group', 'blue'));
  shown(await given.make('link', 'a', { group: 'red' }));
  t.equal(shown(await given.delete('group', 'blue')).metadata.finalizers, undefined);
  t.notOk(given.exists('group', 'blue'), 'no reconciler is needed');
  t.ok(given.exists('link', 'a'), 'a missing object that never existed is not deleted');
});

test('a circle of cascades ends, also with an object that names itself', async (t) => {
  const circle = await stage(t, [linkType({ onMissing: 'allow', onDelete: 'cascade' }, 'links.example.com')]);
  const { given } = circle;
  for (const [name, group] of [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a'],
    ['self', 'self'],
  ] as const)
    shown(await given.make('link', name, { group }));
  shown(await given.delete('link', 'b'));
  shown(await given.delete('link', 'self'));
  await idle(circle);
  t.notOk(['a', 'b', 'c', 'self'].some((name) => given.exists('link', name)));
  t.strictSame(circle.errors, []);
});

for (const onDelete of ['cascade', 'clear'] as const)
  test(`an object that is written after the deletion is followed too (${onDelete})`, async (t) => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sent = { link: false };
    const links = linkType({ onMissing: 'refuse', onDelete });
    const late = await stage(t, [links], {
      through: (log) =>
        altered(log, {
          append: async (stream, events, expected) => {
            if (stream.startsWith('object:links')) {
              sent.link = true;
              await held;
            }
            return log.append(stream, events, expected);
          },
        }),
    });
    const { given } = late;
    shown(await given.make('group', 'blue'));
    const making = given.make('link', 'late', { group: 'blue' });
    while (!sent.link) await nextTurn();
    shown(await given.delete('group', 'blue'));
    t.notOk(given.exists('group', 'blue'));
    shown(await given.make('group', 'blue'));
    release();
    shown(await making);
    await idle(late);
    if (onDelete === 'cascade') t.notOk(given.exists('link', 'late'));
    else t.strictSame(specOf(given, links, 'late'), {});
    t.ok(given.exists('group', 'blue'), 'the new object of this name is another one');
  });

test('a write between the deletion and the step does not hide the reference', async (t) => {
  const links = linkType({ onMissing: 'allow', onDelete: 'cascade' });
  const late = await stage(t, [links]);
  const { given, lead } = late;
  shown(await given.make('group', 'blue'));
  shown(await given.make('link', 'a', { group: 'blue' }));
  shown(await given.make('link', 'moved', { group: 'blue' }));
  lead.give(false);
  shown(await given.delete('group', 'blue'));
  shown(await given.change('group', 'blue', { metadata: { finalizers: null } }));
  shown(await given.make('group', 'blue'));
  shown(await given.change('link', 'a', { spec: { title: 'changed' } }));
  shown(await given.change('link', 'moved', { spec: { group: 'red' } }));
  lead.give(true);
  await idle(late);
  t.notOk(given.exists('link', 'a'), 'it still names the deleted object');
  t.ok(given.exists('link', 'moved'));
  t.ok(given.exists('group', 'blue'));
});

test('a referring object that cannot be deleted holds the deletion, and is retried', async (t) => {
  const refusing = fileType({ onMissing: 'allow', onDelete: 'refuse' });
  const held = await stage(t, [linkType({ onMissing: 'allow', onDelete: 'cascade' }), refusing]);
  const { given, errors } = held;
  shown(await given.make('group', 'blue'));
  shown(await given.make('link', 'a', { group: 'blue' }));
  shown(await given.make('file', 'f', { group: 'a' }));
  shown(await given.delete('group', 'blue'));
  await idle(held);
  t.ok(given.exists('group', 'blue') && given.exists('link', 'a'));
  t.match(String(errors[0]), /links.example.com referenced: links.example.com "a" cannot be deleted/);
  shown(await given.delete('file', 'f'));
  await given.writing.settle(
    (async () => {
      while (given.exists('group', 'blue')) await nextTurn();
    })(),
  );
  t.notOk(given.exists('link', 'a'));
});
