import type { Page } from 'playwright-core';

/** Chromium's own line for each response with an error status. Tests assert the responses that matter to them. */
const refusedRequest = /^Failed to load resource: /u;

/** Collects the problems that a page reports: violations of its security policy, errors and warnings. */
export class PageProblems {
  readonly #found: string[] = [];

  static async of(page: Page): Promise<PageProblems> {
    const problems = new PageProblems();
    page.on('console', (message) => {
      const isBad = message.type() === 'error' || message.type() === 'warning';
      if (isBad && !refusedRequest.test(message.text())) problems.#found.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => {
      problems.#found.push(`uncaught: ${error.stack ?? error.message}`);
    });
    await page.addInitScript(`
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
        console.error('violation of the security policy: ' + violatedDirective + ' ' + blockedURI + ' ' + sample);
      });
    `);
    return problems;
  }

  list(): readonly string[] {
    return [...this.#found];
  }

  /** Removes the problems that a test expects. Returns them. */
  take(): readonly string[] {
    return this.#found.splice(0);
  }
}
