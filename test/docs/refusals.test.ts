/** The documented refusals are those of the code. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'tap';

import { problems } from '../../src/http/problem.ts';
import { repository } from '../architecture/repository.ts';
import { tableUnder } from './markdown-blocks.ts';

const inCode = Object.values(problems)
  .map(({ status, word }) => `${String(status)} ${word}`)
  .sort();

async function tableOf(page: string, heading: string): Promise<readonly (readonly string[])[]> {
  return tableUnder(heading, await readFile(join(repository, page), 'utf8'));
}

/** `429 / 431` and `A / B` are one of each; `409` and `A / B` are both 409. */
function refusalsOf(statuses: string, reasons: string): readonly string[] {
  const each = statuses.split(' / ');
  const words = reasons.split(';', 1)[0]?.split(' / ') ?? [];
  return words.map((word, index) => `${each[index] ?? each[0] ?? ''} ${word}`);
}

test('docs/api.md lists every refusal, and none that is not there', async (t) => {
  const rows = await tableOf('docs/api.md', '## Errors');
  t.strictSame(rows.map(([status = '', reason = '']) => `${status} ${reason.replaceAll('`', '')}`).sort(), inCode);
});

test('so does decision 8', async (t) => {
  const rows = await tableOf('docs/spec/decisions.md', '## 8. Errors');
  t.strictSame(rows.flatMap(([, statuses = '', reasons = '']) => refusalsOf(statuses, reasons)).sort(), inCode);
});
