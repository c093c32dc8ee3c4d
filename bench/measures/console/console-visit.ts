import type { Browser, CDPSession, Page } from 'playwright-core';

import { adminPassword } from '../../subject/server.ts';

export type Visited = { readonly page: Page; readonly devTools: CDPSession };

export type VisitOptions = {
  /** Whether the page has no session. */
  readonly isVisitor?: boolean;
  /** Called before the page has loaded anything. */
  readonly prepare?: (visited: Visited) => Promise<void>;
};

/** Opens pages of the console, each in a browser profile of its own with an empty cache. */
export class ConsoleVisit {
  readonly #browser: Browser;
  readonly #url: string;

  constructor(browser: Browser, url: string) {
    this.#browser = browser;
    this.#url = url;
  }

  /** Calls `act` with a page that has not loaded anything yet, and closes the page afterwards. */
  async page<T>({ isVisitor, prepare }: VisitOptions, act: (visited: Visited) => Promise<T>): Promise<T> {
    const context = await this.#browser.newContext({
      baseURL: this.#url,
      locale: 'en-US',
      viewport: { width: 1_280, height: 800 },
    });
    context.setDefaultTimeout(120_000);
    try {
      if (isVisitor !== true) {
        const answer = await context.request.post('/login', { data: { username: 'admin', password: adminPassword } });
        if (!answer.ok()) throw new Error(`cannot log in: ${await answer.text()}`);
      }
      const page = await context.newPage();
      const visited = { page, devTools: await context.newCDPSession(page) };
      await prepare?.(visited);
      return await act(visited);
    } finally {
      await context.close();
    }
  }

  /** Returns the events that Chromium records while `act` runs. */
  async trace(page: Page, act: () => Promise<void>): Promise<readonly TraceEvent[]> {
    await this.#browser.startTracing(page, { categories: traced });
    let bytes: Buffer;
    try {
      await act();
    } finally {
      bytes = await this.#browser.stopTracing();
    }
    return (JSON.parse(bytes.toString('utf8')) as { readonly traceEvents: readonly TraceEvent[] }).traceEvents;
  }
}

/** An event of a trace; times are in microseconds. */
export type TraceEvent = {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** The CPU time of the thread. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
};

const traced = [
  'devtools.timeline.frame',
  'disabled-by-default-devtools.timeline.frame',
  'disabled-by-default-devtools.timeline',
  '__metadata',
];

/** Logs in with the form of the page Log in. */
export async function logInByForm(page: Page): Promise<void> {
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password').fill(adminPassword);
  await page.getByRole('button', { name: 'Log in' }).click();
}
