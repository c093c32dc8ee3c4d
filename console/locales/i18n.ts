import { readonly, shallowRef, type Plugin, type Ref } from 'vue';
import { createI18n } from 'vue-i18n';

import type { Messages } from './messages-of.ts';

/** The languages of the console, with their own names. */
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
  /** Loads the messages of a language, shows them, and remembers the choice in this browser. */
  readonly choose: (language: Language) => Promise<void>;
};

/** Loads the messages of the chosen language, or of the browser's. */
export async function createTranslations(): Promise<Translations> {
  const first = initialLanguage();
  const i18n = createI18n({
    legacy: false,
    locale: first,
    missingWarn: false,
    fallbackWarn: false,
    messages: {},
  });
  const language = shallowRef(first);
  const show = async (chosen: Language): Promise<void> => {
    i18n.global.setLocaleMessage(chosen, (await loaders[chosen]()).default);
    i18n.global.locale.value = chosen;
    language.value = chosen;
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
  };
}

function initialLanguage(): Language {
  const wished = [localStorage.getItem(languageKey) ?? '', ...navigator.languages];
  for (const wish of wished) {
    const found = languages.find(({ code }) => wish.toLowerCase().split('-')[0] === code);
    if (found !== undefined) return found.code;
  }
  return 'en';
}
