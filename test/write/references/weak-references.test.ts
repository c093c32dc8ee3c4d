import { test } from 'tap';

import { referencesPerObjectMax, referrersCountedMax } from '../../../src/limits/objects.ts';
import { decodeEvent, isObjectEvent } from '../../../src/log/event-codec.ts';
import { referencesOf } from '../../../src/log/event-references.ts';
import { fenceOf } from '../../../src/write/unique/claim-events.ts';
import { noRules } from '../../../src/write/rules.ts';
import { fileType, linkType, ReferringWriting } from '../../support/referring.ts';
import { create } from '../../support/given.ts';
import { altered, shown, verdict } from '../../support/writing.ts';

const refusing = linkType({ onMissing: 'refuse', onDelete: 'orphan' });
const keeping = linkType({ onMissing: 'allow', onDelete: 'refuse' });

test('a write that names a missing object is refused, with the pointer of the name', async (t) => {
  const given = await ReferringWriting.open(t, [refusing]);
  t.match(await given.make('link', 'a', { group: 'blue' }), {
    rejection: {
      reason: 'invalid',
      violations: [
        {
          pointer: '/spec/group',
          detail: 'must name an existing object: groups.example.com "blue" does not exist',
        },
      ],
    },
  });
  t.notOk(given.exists('link', 'a'));
  shown(await given.make('group', 'blue'));
  shown(await given.make('link', 'a', { group: 'blue' }));
  t.match(await given.change('link', 'a', { spec: { groups: ['blue', 'red', 'Not A Name'] } }), {
    rejection: { violations: [{ pointer: '/spec/groups/1' }, { pointer: '/spec/groups/2' }] },
  });
  t.match(await given.make('link', 'b', { group: 'red' }, { dryRun: true }), { rejection: { reason: 'invalid' } });
});

test('an object that is being deleted counts as missing', async (t) => {
  const given = await ReferringWriting.open(t, [refusing]);
  shown(await given.writing.write(create({ metadata: { name: 'blue', finalizers: ['example.com/hold'] }, spec: {} })));
  shown(await given.make('link', 'before', { group: 'blue' }));
  shown(await given.delete('group', 'blue'));
  t.match(await given.make('link', 'a', { group: 'blue' }), {
    rejection: { violations: [{ detail: /is being deleted/ }] },
  });
  shown(await given.change('link', 'before', { spec: { title: 'x' } }));
  t.strictSame(given.references('link', 'before'), [{ field: 'spec.group', target: 'groups.example.com/blue' }]);
});

test('a write does not refuse a missing object that the stored object names already', async (t) => {
  const given = await ReferringWriting.open(t, [refusing]);
  shown(await given.make('group', 'blue'));
  shown(await given.make('link', 'a', { group: 'blue' }));
  shown(await given.delete('group', 'blue'));
  shown(await given.change('link', 'a', { spec: { title: 'x' } }));
  t.equal(verdict(await given.change('link', 'a', { spec: { group: 'red' } })), 'invalid');
});

test('events and tables contain all references of an object, and none after they are removed', async (t) => {
  const given = await ReferringWriting.open(t, [keeping]);
  shown(await given.make('link', 'a', { group: 'blue', groups: ['red', 'blue', 'red'] }));
  const expected = [
    { field: 'spec.group', target: 'groups.example.com/blue' },
    { field: 'spec.groups', target: 'groups.example.com/red' },
    { field: 'spec.groups', target: 'groups.example.com/blue' },
  ];
  t.strictSame(given.references('link', 'a'), expected);
  const last = (await given.writing.recorded()).at(-1);
  if (last === undefined) throw new Error('no event');
  const { event } = decodeEvent({ ...last, data: Buffer.from(last.data) });
  t.strictSame(isObjectEvent(event) && referencesOf(event), expected);
  t.match(fenceOf(last), { refs: expected }, 'a fence repeats them');
  const { references } = given.writing.models;
  const by = (field: string) =>
    references.referrers('groups.example.com/blue', { from: keeping.key, field }, { limit: 9 }).map(({ name }) => name);
  t.strictSame([by('spec.group'), by('spec.groups')], [['a'], ['a']]);
  shown(await given.change('link', 'a', { spec: { group: null, groups: ['red'] } }));
  t.strictSame([by('spec.group'), by('spec.groups')], [[], []]);
  shown(await given.delete('link', 'a'));
  t.strictSame(given.references('link', 'a'), []);
});

test('the deletion of an object that others name is refused with their names', async (t) => {
  const given = await ReferringWriting.open(t, [keeping]);
  shown(await given.make('group', 'blue'));
  for (const name of ['a', 'b']) shown(await given.make('link', name, { group: 'blue' }));
  t.match(await given.delete('group', 'blue'), {
    rejection: {
      reason: 'referenced',
      detail:
        'groups.example.com "blue" cannot be deleted, because 2 objects of links.example.com name it in spec.group: ' +
        '"a", "b"',
    },
  });
  shown(await given.delete('link', 'a'));
  t.match(await given.delete('group', 'blue'), { rejection: { detail: /1 object of links.example.com names it/ } });
  shown(await given.change('link', 'b', { spec: { group: null } }));
  shown(await given.delete('group', 'blue'));
  t.notOk(given.exists('group', 'blue'));
});

test('the refusal contains only names that the writer may read, and counts up to a limit', async (t) => {
  const rules = { ...noRules, mayName: (_subject: unknown, _type: unknown, name: string) => name === 'l1' };
  const given = await ReferringWriting.open(t, [keeping], { rules });
  shown(await given.make('group', 'blue'));
  for (let index = 0; index < referrersCountedMax; index += 1)
    shown(await given.make('link', `l${String(index)}`, { groups: ['blue'] }));
  t.match(await given.delete('group', 'blue'), {
    rejection: { detail: /because 100 objects of links.example.com name it in spec.groups: "l1" and others$/ },
  });
  shown(await given.make('link', 'more', { groups: ['blue'] }));
  t.match(await given.delete('group', 'blue'), { rejection: { detail: /because more than 100 objects/ } });
});

test('an object that names itself can be created and deleted', async (t) => {
  for (const [onMissing, onDelete] of [
    ['refuse', 'orphan'],
    ['allow', 'refuse'],
  ] as const) {
    const self = linkType({ onMissing, onDelete }, 'links.example.com');
    const given = await ReferringWriting.open(t, [self]);
    shown(await given.make('link', 'a', { group: 'a' }));
    shown(await given.delete('link', 'a'));
  }
});

test('a circle of references with refuse is kept until one is changed', async (t) => {
  const self = linkType({ onMissing: 'allow', onDelete: 'refuse' }, 'links.example.com');
  const given = await ReferringWriting.open(t, [self]);
  shown(await given.make('link', 'a', { group: 'b' }));
  shown(await given.make('link', 'b', { group: 'a' }));
  t.equal(verdict(await given.delete('link', 'a')), 'referenced');
  t.equal(verdict(await given.delete('link', 'b')), 'referenced');
  shown(await given.change('link', 'b', { spec: { group: null } }));
  shown(await given.delete('link', 'a'));
  shown(await given.delete('link', 'b'));
});

test('a write adds at most the limit of names', async (t) => {
  const given = await ReferringWriting.open(t, [keeping]);
  const named = (count: number) => Array.from({ length: count }, (_, index) => `g${String(index)}`);
  shown(await given.make('link', 'a', { groups: named(referencesPerObjectMax) }));
  t.match(await given.make('link', 'b', { groups: named(referencesPerObjectMax + 1) }), {
    rejection: { reason: 'invalid', detail: /at most 256 names in total, they contain 257/ },
  });
});

test('references to a type that nobody serves are kept, and refused if they must exist', async (t) => {
  const given = await ReferringWriting.open(t, [
    linkType({ onMissing: 'allow', onDelete: 'refuse' }, 'ghosts.example.com'),
    fileType({ onMissing: 'refuse', onDelete: 'orphan' }),
  ]);
  shown(await given.make('link', 'a', { group: 'casper' }));
  t.match(await given.make('file', 'a', { group: 'casper' }), { rejection: { detail: /links.example.com "casper"/ } });
});

test('a refusal is decided again if the log has a later event of the named or the naming object', async (t) => {
  let isStale = false;
  const given = await ReferringWriting.open(t, [keeping], {
    through: (log) =>
      altered(log, {
        readLast: async (stream) => {
          const last = await log.readLast(stream);
          if (!isStale || !stream.startsWith('object:links') || last === undefined) return last;
          isStale = false;
          t.equal(last.revision, 0, 'the refusal is confirmed');
          return last;
        },
      }),
  });
  shown(await given.make('group', 'blue'));
  shown(await given.make('link', 'a', { group: 'blue' }));
  isStale = true;
  t.equal(verdict(await given.delete('group', 'blue')), 'referenced');
  t.notOk(isStale, 'the log was asked');
});
