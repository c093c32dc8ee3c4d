import type { ConsoleDefinition } from 'ledgerplane/console-kit';

import { after } from '../server/browser-clock.ts';
import { decodeDefinition } from './decode-definition.ts';
import type { ListedFrontEnd } from './listed-front-end.ts';
import { loadMsMax } from './plugin-part.ts';

export type LoadedModule = {
  readonly definition: ConsoleDefinition;
  /** Removes the style sheet. */
  readonly removeStyles: () => void;
};

/**
 * Loads the module and the style sheet of a front end. Rejects if the module throws, declares no valid front end or
 * does not load in time. `attempt` counts from 0 and becomes part of the address, because a browser does not load a
 * failed address again.
 */
export async function loadFrontEnd(listed: ListedFrontEnd, attempt: number): Promise<LoadedModule> {
  const styles = addStyles(listed);
  let cancel = (): void => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    cancel = after(loadMsMax, () => {
      reject(new Error(`the module has not loaded within ${String(loadMsMax / 1_000)} s`));
    });
  });
  // The module imports the kit by its address, which does not load the style sheets of the kit's components.
  const kit = import('../kit/console-kit.ts');
  try {
    const address = attempt === 0 ? listed.module : `${listed.module}?attempt=${String(attempt)}`;
    const imported: Promise<unknown> = import(/* @vite-ignore */ address);
    const [module] = await Promise.race([Promise.all([imported, styles.loaded, kit]), late]);
    return { definition: decodeDefinition(module), removeStyles: styles.remove };
  } catch (error) {
    styles.remove();
    throw error;
  } finally {
    cancel();
  }
}

const unloadedStyles = 'the style sheet cannot be loaded';

/**
 * Returns whether a file could not be read, for example because another node of the platform has not started the plugin
 * yet. The error of an import has a different message in each browser.
 */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message === unloadedStyles || /dynamically imported module|importing a module/iu.test(error.message);
}

/** Links the style sheet to the page. */
function addStyles({ styles }: ListedFrontEnd): { readonly loaded: Promise<void>; readonly remove: () => void } {
  if (styles === undefined) return { loaded: Promise.resolve(), remove: () => undefined };
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = styles;
  const loaded = new Promise<void>((resolve, reject) => {
    link.addEventListener('load', () => {
      resolve();
    });
    link.addEventListener('error', () => {
      reject(new Error(unloadedStyles));
    });
  });
  // If the module fails first, the error of the style sheet has no other handler.
  loaded.catch(() => undefined);
  document.head.append(link);
  return {
    loaded,
    remove: () => {
      link.remove();
    },
  };
}
