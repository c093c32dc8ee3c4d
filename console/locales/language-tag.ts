/**
 * Returns a language tag that `Intl` takes. Browsers report the names of some systems, such as `en-US@posix` or
 * `de_DE.UTF-8`, which `Intl` refuses by an exception.
 */
export function languageTag(name: string, otherwise = 'en'): string {
  for (const wish of [name, name.split(/[@.]/u)[0]?.replaceAll('_', '-') ?? '']) {
    try {
      const [tag] = Intl.getCanonicalLocales(wish);
      if (tag !== undefined) return tag;
    } catch {
      // The next wish may be a tag.
    }
  }
  return otherwise;
}

/** Makes the language of the browser one that `Intl` takes: libraries, such as that of plots, format by it. */
export function repairLanguage(browser: Pick<Navigator, 'language'>): void {
  const tag = languageTag(browser.language);
  if (tag !== browser.language) Object.defineProperty(browser, 'language', { value: tag, configurable: true });
}
