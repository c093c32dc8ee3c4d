import { TriangleAlert } from '@lucide/vue';
import { shallowReactive, shallowRef, type Ref } from 'vue';
import type { Router } from 'vue-router';

import { contribute, withdraw } from '../features/features.ts';
import type { Feature } from '../features/feature.ts';
import type { Translations } from '../locales/i18n.ts';
import { after } from '../server/browser-clock.ts';
import { addressOf, isAddressOf } from './addresses.ts';
import { featureOf } from './feature-of.ts';
import type { ListedFrontEnd } from './listed-front-end.ts';
import { isUnreachable, loadFrontEnd, type LoadedModule } from './load-module.ts';

/** The delays in milliseconds before unreachable files are requested again. */
const retriesMs = [2_000, 5_000, 10_000];

export type FrontEndState =
  | { readonly status: 'loading' }
  | { readonly status: 'ready' }
  | { readonly status: 'failed'; readonly error: unknown };

type Present = {
  readonly listed: ListedFrontEnd;
  /** Removes the parts of the present version from the page. */
  remove: () => void;
  /** Whether the present parts belong to a loaded front end, and not to the page that reports a failure. */
  isShown: boolean;
  attempts: number;
};

/** The front ends of plugins in this page. The front ends follow the server's list without a reload of the page. */
export class FrontEnds {
  /** The state of each listed front end, by plugin. */
  readonly states: Map<string, FrontEndState> = shallowReactive(new Map());
  /** Whether the list has been read. */
  readonly isKnown: Ref<boolean> = shallowRef(false);
  readonly #present = new Map<string, Present>();
  readonly #router: Router;
  readonly #translations: Pick<Translations, 'addMessages'>;
  readonly #domain: () => string;

  /** `domain` returns the domain of the platform's API groups. */
  constructor(router: Router, translations: Pick<Translations, 'addMessages'>, domain: () => string) {
    this.#domain = domain;
    this.#router = router;
    this.#translations = translations;
  }

  /**
   * Follows the list: loads new front ends, reloads front ends with a new address, and removes the others. The former
   * version is shown until the new version has loaded, and stays if the load fails.
   */
  follow(list: readonly ListedFrontEnd[]): void {
    const names = new Set(list.map(({ plugin }) => plugin));
    for (const [plugin, { remove }] of this.#present) {
      if (names.has(plugin)) continue;
      this.#present.delete(plugin);
      this.states.delete(plugin);
      remove();
      this.#showAgain(plugin);
    }
    for (const listed of list) {
      const before = this.#present.get(listed.plugin);
      if (before?.listed.module === listed.module) continue;
      const { remove = () => undefined, isShown = false } = before ?? {};
      const present: Present = { listed, remove, isShown, attempts: 0 };
      this.#present.set(listed.plugin, present);
      void this.#load(present);
    }
    this.isKnown.value = true;
  }

  /** Loads a failed front end again. */
  retry(plugin: string): void {
    const present = this.#present.get(plugin);
    if (present === undefined || this.states.get(plugin)?.status !== 'failed') return;
    present.attempts += 1;
    void this.#load(present);
  }

  async #load(present: Present): Promise<void> {
    const { listed, attempts } = present;
    const { plugin, version } = listed;
    this.states.set(plugin, { status: 'loading' });
    let loaded: LoadedModule | undefined;
    try {
      loaded = await loadFrontEnd(listed, attempts);
      const feature = featureOf({ name: plugin, version }, loaded.definition, this.#domain());
      if (this.#isPast(present)) {
        loaded.removeStyles();
        return;
      }
      present.remove();
      present.isShown = false;
      present.remove = this.#add(plugin, feature, loaded);
      present.isShown = true;
      this.states.set(plugin, { status: 'ready' });
    } catch (error) {
      loaded?.removeStyles();
      if (this.#isPast(present)) return;
      console.error(`the front end of the plugin ${plugin} has failed:`, error);
      if (!present.isShown) {
        present.remove();
        contribute(plugin, failedFeature(plugin));
        present.remove = () => {
          withdraw(plugin);
        };
      }
      this.states.set(plugin, { status: 'failed', error });
      if (isUnreachable(error)) this.#retryLater(present);
    }
    this.#showAgain(plugin);
  }

  #retryLater(present: Present): void {
    const waitMs = retriesMs[present.attempts];
    if (waitMs === undefined) return;
    after(waitMs, () => {
      if (!this.#isPast(present)) this.retry(present.listed.plugin);
    });
  }

  /** Returns whether the list has replaced or removed this front end in the meantime. */
  #isPast(present: Present): boolean {
    return this.#present.get(present.listed.plugin) !== present;
  }

  /** Adds the parts of a front end. Returns the function that removes them. */
  #add(plugin: string, feature: Feature, { definition, removeStyles }: LoadedModule): () => void {
    const undo = [removeStyles, this.#translations.addMessages(plugin, definition.messages ?? { en: {} })];
    const remove = (): void => {
      for (const step of undo) step();
    };
    try {
      for (const route of feature.routes ?? []) undo.push(this.#router.addRoute(route));
    } catch (error) {
      remove();
      throw error;
    }
    contribute(plugin, feature);
    undo.push(() => {
      withdraw(plugin);
    });
    return remove;
  }

  /** Resolves the present address again if it belongs to the plugin, because the plugin's routes have changed. */
  #showAgain(plugin: string): void {
    const { path, query, hash } = this.#router.currentRoute.value;
    if (isAddressOf(plugin, path)) void this.#router.replace({ path, query, hash, force: true });
  }
}

/** Returns a feature with one page, which shows why the front end failed. */
function failedFeature(plugin: string): Feature {
  const permissions = undefined;
  return {
    menu: [
      { to: addressOf(plugin, ''), title: 'apps.failedEntry', icon: TriangleAlert, order: 0, permissions, plugin },
    ],
  };
}
