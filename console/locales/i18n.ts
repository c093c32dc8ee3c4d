import { readonly, shallowRef, type Plugin, type Ref } from 'vue';
import { createI18n } from 'vue-i18n';

import { languageTag, repairLanguage } from './language-tag.ts';
import type { Messages } from './messages-of.ts';
import { filledMessages, type MessagesByLanguage } from './plugin-messages.ts';

/** The languages of the console. Each name is in the language itself. */
export const languages = [
  { code: 'en', name: 'English' },
  { code: 'zh', name: '简体中文' },
] as const;

export type Language = (typeof languages)[number]['code'];

const loaders: Readonly<Record<Language, () => Promise<{ readonly default: Messages }>>> = {
  en: async () => import('./en.ts'),
  zh: async () => import('./zh.ts'),
};

const languageKey = 'ledgerplane.language';

export type Translations = {
  readonly i18n: Plugin;
  readonly language: Readonly<Ref<Language>>;
  /** Loads and shows the messages of a language, and stores the choice in this browser. */
  readonly choose: (language: Language) => Promise<void>;
  /** Adds the messages of a plugin, as `plugin.<name>.…`. Returns the function that removes them. */
  readonly addMessages: (plugin: string, messages: MessagesByLanguage) => () => void;
};

/** Loads the messages of the chosen language, or otherwise of the browser's language. */
export async function createTranslations(): Promise<Translations> {
  repairLanguage(navigator);
  const first = initialLanguage();
  const i18n = createI18n({
    legacy: false,
    locale: first,
    missingWarn: false,
    fallbackWarn: false,
    messages: {},
  });
  const language = shallowRef(first);
  const added = new Map<string, MessagesByLanguage>();
  let own: Messages = {};
  const setMessages = (): void => {
    const plugin = Object.fromEntries(
      [...added].map(([name, messages]) => [name, filledMessages(messages, language.value)]),
    );
    i18n.global.setLocaleMessage(language.value, { ...own, plugin });
  };
  const show = async (chosen: Language): Promise<void> => {
    own = (await loaders[chosen]()).default;
    language.value = chosen;
    setMessages();
    i18n.global.locale.value = chosen;
    document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : chosen;
  };
  await show(first);
  return {
    i18n,
    language: readonly(language),
    choose: async (chosen) => {
      await show(chosen);
      localStorage.setItem(languageKey, chosen);
    },
    addMessages: (plugin, messages) => {
      added.set(plugin, messages);
      setMessages();
      return () => {
        // A newer version may have replaced the messages.
        if (added.get(plugin) !== messages) return;
        added.delete(plugin);
        setMessages();
      };
    },
  };
}

function initialLanguage(): Language {
  const wished = [localStorage.getItem(languageKey) ?? '', ...navigator.languages];
  for (const wish of wished) {
    const found = languages.find(({ code }) => languageTag(wish, '').split('-')[0] === code);
    if (found !== undefined) return found.code;
  }
  return 'en';
}
