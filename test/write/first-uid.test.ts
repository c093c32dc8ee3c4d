import { test } from 'tap';

import { create } from '../support/given.ts';
import { body } from '../support/sample.ts';
import { idOf } from '../support/id-of.ts';
import { shown, Writing } from '../support/writing.ts';

test('an object keeps the uid of the first attempt, however often its write is decided again', async (t) => {
  const writing = await Writing.open(t, { suffixes: ['aaaaa', 'aaaaa', 'aaaaa', 'bbbbb'] });
  const drawn = create({ ...body(), metadata: { generateName: 'g-' } });
  const [first, second] = [shown(await writing.write(drawn)), shown(await writing.write(drawn))];
  t.strictSame(
    [first.metadata.name, second.metadata.name],
    ['g-aaaaa', 'g-bbbbb'],
    'the second one was decided three times',
  );
  // A uid, an event's id, and the next uid.
  t.strictSame([first.metadata.uid, second.metadata.uid], [idOf('uuid 1'), idOf('uuid 3')]);
});
