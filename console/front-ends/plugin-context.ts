import type { Console } from 'ledgerplane/console-kit';
import { inject, type InjectionKey, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';

import { useServer } from '../server/use-server.ts';
import { addressOf } from './addresses.ts';

/** The injection key of the plugin to which a component belongs. */
export const pluginKey: InjectionKey<Console['plugin']> = Symbol('plugin');

function usePlugin(): Console['plugin'] {
  const plugin = inject(pluginKey);
  if (plugin === undefined) throw new Error('this function works in the components of a plugin only');
  return plugin;
}

export function useConsole(): Console {
  const plugin = usePlugin();
  const { client, platform, session } = useServer();
  return {
    plugin,
    client,
    domain: platform.domain,
    username: session.username,
    addressOf: (path, area) => addressOf(plugin.name, path, area),
  };
}

export function useMessages(): {
  readonly t: (key: string, values?: Readonly<Record<string, unknown>>, count?: number) => string;
  readonly language: Readonly<Ref<string>>;
} {
  const { name } = usePlugin();
  const { t, locale } = useI18n();
  return {
    t: (key, values = {}, count) =>
      count === undefined ? t(messageKey(name, key), values) : t(messageKey(name, key), values, count),
    language: locale,
  };
}

/** Returns the key of a plugin's message in the messages of the page. */
export function messageKey(plugin: string, key: string): string {
  return `plugin.${plugin}.${key}`;
}
