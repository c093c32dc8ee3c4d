import { test } from 'tap';

import { takeFound } from '../../src/plugin/registry/discovered.ts';
import { typeKeyOf } from '../../src/resource/type/type-declaration.ts';

test('plugins in folders come first, then those of every page of objects, one a step', (t) => {
  const objects = Array.from({ length: 200 }, (_, index) => `p${String(index).padStart(3, '0')}`);
  const pages: number[] = [];
  const visited: string[] = [];
  const steps = takeFound(
    {
      folders: ['in-a-folder', 'p001'],
      objects: typeKeyOf('plugin.platform.example', 'plugins'),
      namesOf: (_type, { after, limit }) => {
        const from = after === undefined ? 0 : objects.indexOf(after) + 1;
        pages.push(from);
        return objects.slice(from, from + limit);
      },
    },
    (name) => {
      visited.push(name);
    },
  );
  let paused = 0;
  while (steps.next().done !== true) {
    paused += 1;
    t.equal(visited.length, paused);
  }
  t.strictSame(visited, ['in-a-folder', 'p001', ...objects]);
  t.ok(pages.length > 3, 'more than one page');
  t.end();
});
