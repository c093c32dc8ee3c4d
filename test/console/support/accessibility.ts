import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import type { Page } from 'playwright-core';

const script = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type AxeResult = {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
};

const options = '{ resultTypes: ["violations"] }';

/** Menus are appended to the body, beside the landmarks. All other content must be within a landmark or a dialog. */
const region = {
  id: 'region',
  selector: 'body *:not([data-reka-popper-content-wrapper], [data-reka-popper-content-wrapper] *)',
};

/** Returns axe's violations of WCAG 2.2 AA and of best practices on the page, one line for each element. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(await script);
  // The type Document exists only in the page.
  const { violations } = await page.evaluate<AxeResult>(
    `axe.configure({ rules: [${JSON.stringify(region)}] }); axe.run(document, ${options})`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}
