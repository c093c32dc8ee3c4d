import { test } from 'tap';

import { blocksIn, follow, sitsDown } from './tutorial-reader.ts';

test('the way from nothing to a page in the console, as docs/console-plugins.md goes it', async (t) => {
  const reader = await sitsDown(t, 'notes');
  for (const block of await blocksIn('docs/console-plugins.md', '\n## The parts\n')) await follow(t, reader, block);
});
