import { test } from 'tap';

import type { Change } from '../../src/read/objects.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { create, merge, widgetType } from '../support/given.ts';
import { Writing } from '../support/writing.ts';

test('a change folded before its type was registered is indexed once it is', async (t) => {
  const here = await Writing.open(t, { type: widgetType({ plural: 'others', singular: 'other', kind: 'Other' }) });
  const type: ResourceType = widgetType({});
  const changes: Change[] = [];
  here.models.subscribe((batch) => {
    changes.push(...batch.changes);
  });
  for (const command of [
    create({ metadata: { name: 'w1', labels: { team: 'blue' } }, spec: { title: 'T' } }),
    merge({ metadata: { labels: { team: 'red' } } }),
  ]) {
    t.match(await here.write(command, { type }), { ok: true });
  }
  const [added, modified] = changes;
  t.equal(added?.after, undefined, 'its index values are not known yet');
  await here.declare(type);
  t.match(added?.after, { name: 'w1', labels: { team: 'blue' } });
  t.match([modified?.before, modified?.after], [{ labels: { team: 'blue' } }, { labels: { team: 'red' } }]);
});
