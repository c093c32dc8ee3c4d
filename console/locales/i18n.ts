import { readonly, shallowRef, type Ref } from 'vue';
import { createI18n, type I18n } from 'vue-i18n';

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
  readonly i18n: I18n;
  readonly language: Readonly<Ref<Language>>;
  /** Loads the messages of a language, shows them, and remembers the choice in this browser. */
  choose(language: Language): Promise<void>;
};

/** Loads the messages of the chosen language, or of the browser's. */
export async function createTranslations(): Promise<Translations> {
  const first = initialLanguage();
  const i18n = createI18n({
    legacy: false,
    locale: first,
    missingWarn: false,
    fallbackWarn: false,
    messages: { [first]: (await loaders[first]()).default as never },
  });
  const language = shallowRef(first);
  const show = (chosen: Language): void => {
    i18n.global.locale.value = chosen;
    language.value = chosen;
    document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : chosen;
  };
  show(first);
  return {
    i18n: i18n as unknown as I18n,
    language: readonly(language),
    choose: async (chosen) => {
      i18n.global.setLocaleMessage(chosen, (await loaders[chosen]()).default as never);
      show(chosen);
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
