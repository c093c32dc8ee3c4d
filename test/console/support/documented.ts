import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Page } from 'playwright-core';

import { repository } from '../../architecture/repository.ts';

/**
 * The folder of the pictures of docs/console.md. Only a run with `CONSOLE_PICTURES=docs` replaces them, because no two
 * runs make the same bytes.
 */
const folder = join(
  repository,
  ...(process.env['CONSOLE_PICTURES'] === 'docs' ? ['docs', 'pictures'] : ['.screenshots', 'docs']),
);

/** Takes a picture of the page for docs/console.md, of a size that fits a page of text, without messages above it. */
export async function document(page: Page, name: string, height = 640): Promise<void> {
  await mkdir(folder, { recursive: true });
  const size = page.viewportSize();
  const messages = page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Close' });
  for (let left = await messages.count(); left > 0; left = await messages.count()) await messages.first().click();
  await page.setViewportSize({ width: 1_120, height });
  await page.screenshot({ path: join(folder, `${name}.png`), caret: 'hide' });
  if (size !== null) await page.setViewportSize(size);
}
