import { inject, type InjectionKey } from 'vue';

import type { Translations } from './i18n.ts';

export const languageKey: InjectionKey<Translations> = Symbol('language');

export function useLanguage(): Translations {
  const translations = inject(languageKey);
  if (translations === undefined) throw new Error('the page has no languages');
  return translations;
}
