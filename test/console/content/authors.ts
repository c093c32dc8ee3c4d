import type { Page } from 'playwright-core';
import type { Test } from 'tap';

import { Administration } from '../../support/server/administration.ts';
import { accessibilityProblems } from '../support/accessibility.ts';

export const postsPath = '/apis/content.svc.run/v1alpha1/posts';
export const commentsPath = '/apis/content.svc.run/v1alpha1/comments';

/** Creates a user with roles. */
export async function person(origin: string, name: string, ...roles: readonly string[]): Promise<void> {
  const administration = new Administration(origin);
  await administration.user(name);
  for (const role of roles) await administration.bind(`${name}-${role}`, role, name);
}

/** Creates a post and waits until the plugin has written its status. */
export async function createPost(origin: string, name: string, spec: object): Promise<void> {
  const administration = new Administration(origin);
  await administration.call('POST', postsPath, { metadata: { name }, spec });
}

export async function readPost(origin: string, name: string): Promise<{ readonly spec: Record<string, unknown> }> {
  const { text } = await new Administration(origin).call('GET', `${postsPath}/${name}`);
  return JSON.parse(text) as { readonly spec: Record<string, unknown> };
}

export async function checkLook(t: Test, page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // The colours of the other theme are there after a frame.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    t.strictSame(await accessibilityProblems(page), [], colorScheme);
  }
}

export async function isNarrow(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth');
}
