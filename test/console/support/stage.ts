import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';

import { repository } from '../../architecture/repository.ts';
import {
  startTestServer,
  testPassword,
  type TestServer,
  type TestServerOptions,
} from '../../support/server/start-server.ts';
import { launchBrowser, withBrowser } from './browser.ts';
import { PageProblems } from './page-problems.ts';

export type Visit = {
  /** The user that is logged in; `admin` by default, undefined for a visitor. */
  readonly user?: string | undefined;
  readonly password?: string;
  readonly theme?: 'light' | 'dark';
  /** A language tag, such as `zh-CN`; `en-US` by default. */
  readonly language?: string;
  readonly width?: number;
  readonly height?: number;
};

/** A page in a browser profile of its own. */
export type ConsolePage = {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly problems: PageProblems;
  /** Opens an address of the console, for example `/objects/…`, and waits until the page has content. */
  readonly open: (path: string) => Promise<void>;
  /** Writes a picture to `.screenshots/`, which is not committed. */
  readonly picture: (name: string) => Promise<void>;
};

/** Only a server that writes log lines keeps those of plugins. */
const logLines = { write: (): undefined => undefined };

/**
 * A server and a browser for the tests of one file, and pages on them. Each page fails its test if the page reports a
 * violation of the security policy, an error on its console, or an uncaught error.
 */
export class Stage {
  #browser: Browser | undefined;
  #server: TestServer | undefined;

  /** Starts both before the tests of the file, and ends both after them. */
  constructor(
    t: Test,
    environment: Readonly<Record<string, string>> = {},
    options: Pick<TestServerOptions, 'clock'> = {},
  ) {
    if (withBrowser.skip !== undefined) return;
    t.before(async () => {
      [this.#server, this.#browser] = await Promise.all([
        startTestServer({ ...options, environment, logLines }),
        launchBrowser(),
      ]);
    });
    t.teardown(async () => {
      await this.#browser?.close();
      await this.#server?.remove();
    });
  }

  get server(): TestServer {
    if (this.#server === undefined) throw new Error('the stage has not started');
    return this.#server;
  }

  /** Ends the server, calls `meanwhile`, and starts a server on the same data and the same port. */
  async restartServer(meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    const { url, dataDir } = this.server;
    await this.server.close();
    await meanwhile();
    this.#server = await startTestServer({ dataDir, environment: { PORT: new URL(url).port }, logLines });
  }

  /** Calls `act` with a new page, and then fails the test if the page had problems. */
  async visit(t: Test, visit: Visit, act: (visited: ConsolePage) => Promise<void>): Promise<void> {
    if (this.#browser === undefined) throw new Error('the stage has not started');
    const context = await this.#browser.newContext({
      baseURL: this.server.url,
      colorScheme: visit.theme ?? 'light',
      locale: visit.language ?? 'en-US',
      reducedMotion: 'reduce',
      viewport: { width: visit.width ?? 1_280, height: visit.height ?? 800 },
    });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const problems = await PageProblems.of(page);
    const picture = async (name: string): Promise<void> => {
      const folder = join(repository, '.screenshots');
      await mkdir(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `${name}.png`) });
    };
    try {
      if (!('user' in visit) || visit.user !== undefined) await logIn(context, visit);
      const open = async (path: string): Promise<void> => {
        await page.goto(`/console${path}`);
        await page.locator('main:not(.starting)').first().waitFor();
      };
      await act({ page, context, problems, open, picture });
      t.strictSame(problems.list(), [], 'the page has no problems');
    } catch (error) {
      await picture(`failed-${t.name.replaceAll(/\W+/gu, '-').slice(0, 80)}`);
      t.comment(problems.list().join('\n'));
      throw error;
    } finally {
      await context.close();
    }
  }
}

/** Begins a session, as the page Log in does. */
async function logIn(context: BrowserContext, { user = 'admin', password = testPassword }: Visit): Promise<void> {
  const answer = await context.request.post('/login', { data: { username: user, password } });
  if (!answer.ok()) throw new Error(`${user} cannot log in: ${await answer.text()}`);
}
