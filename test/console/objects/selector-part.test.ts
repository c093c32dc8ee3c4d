import { test } from 'tap';

import { importConsoleModule } from '../support/console-module.ts';

type Part = {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly typed: string;
  readonly key: string;
};
type Selectors = {
  readonly partAt: (selector: string, caret: number) => Part | undefined;
  readonly isUnfinished: (selector: string) => boolean;
};

const { partAt, isUnfinished } = await importConsoleModule<Selectors>('pages/objects/selectors/selector-part.ts');

/** The caret is at the bar. */
function at(marked: string): Part | undefined {
  return partAt(marked.replace('|', ''), marked.indexOf('|'));
}

test('the part at the caret is a key or a value of a requirement', async (t) => {
  t.match(at('te|'), { kind: 'key', typed: 'te', from: 0, to: 2 });
  t.match(at('a=b, !te|am'), { kind: 'key', typed: 'te', from: 6, to: 10 });
  t.match(at('|'), { kind: 'key', typed: '' });
  t.match(at('a=b|c,d'), { kind: 'value', key: 'a', typed: 'b', from: 2, to: 4 });
  t.match(at('spec.size>=1|'), { kind: 'value', key: 'spec.size', typed: '1' });
  t.match(at('a!=|'), { kind: 'value', key: 'a', typed: '' });
  t.match(at('a^=x|'), { kind: 'value', key: 'a', typed: 'x' });
  t.match(at('a in (b, c|'), { kind: 'value', key: 'a', typed: 'c', from: 9, to: 10 });
  t.match(at('a=(b,c|)'), { kind: 'value', key: 'a', typed: 'c' });
  t.match(at(String.raw`a=b\,c|`), { kind: 'value', key: 'a', typed: 'b,c', from: 2, to: 6 });
  t.equal(at('a in b|'), undefined);
  t.equal(at('a b c|'), undefined);
});

test('a selector that ends within a requirement is unfinished', async (t) => {
  for (const selector of ['a=', 'a in (', 'a,', '!', 'a>= ']) t.equal(isUnfinished(selector), true, selector);
  for (const selector of ['', 'a', 'a=b', 'a in (b)']) t.equal(isUnfinished(selector), false, selector);
});
