import { test } from 'tap';

import { blocksIn, follow, sitsDown } from './tutorial-reader.ts';

test('the way from nothing to a package, as docs/plugins.md goes it', async (t) => {
  const reader = await sitsDown(t, 'notes');
  for (const block of await blocksIn('docs/plugins.md', '\n## The smallest plugin\n')) await follow(t, reader, block);
});
