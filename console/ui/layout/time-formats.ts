/** Caches a format for each language, because creating a format takes as long as drawing a row of a table. */
function once<T>(create: (locale: string) => T): (locale: string) => T {
  const created = new Map<string, T>();
  return (locale) => {
    const known = created.get(locale) ?? create(locale);
    created.set(locale, known);
    return known;
  };
}

export const relativeTime = once((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }));
export const exactTime = once((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' }));
