/**
 * Returns a language tag that `Intl` accepts. Some browsers report the names of system locales, such as `en-US@posix`
 * or `de_DE.UTF-8`, for which `Intl` throws.
 */
export function languageTag(name: string, otherwise = 'en'): string {
  for (const wish of [name, name.split(/[@.]/u)[0]?.replaceAll('_', '-') ?? '']) {
    try {
      const [tag] = Intl.getCanonicalLocales(wish);
      if (tag !== undefined) return tag;
    } catch {
      // The next candidate may be valid.
    }
  }
  return otherwise;
}

/**
 * Replaces `navigator.language` if `Intl` does not accept it, because libraries, for example for plots, format values
 * in this language.
 */
export function repairLanguage(browser: Pick<Navigator, 'language'>): void {
  const tag = languageTag(browser.language);
  if (tag !== browser.language) Object.defineProperty(browser, 'language', { value: tag, configurable: true });
}
