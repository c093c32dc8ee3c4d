/** The metadata of a Role object with its names for people. */
export type RoleMetadata = { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };

export function annotationKey(domain: string, name: string): string {
  return `rbac.authorization.${domain}/${name}`;
}

/** Returns the key of the annotation with a role's text in another language: `display-name.zh`. */
export function translatedKey(key: string, language: string): string {
  return `${key}.${language}`;
}

/** Returns the text of an annotation of a role in the language, or else the text for all languages; `''` if absent. */
export function roleText(
  { annotations = {} }: RoleMetadata,
  key: string,
  { domain, language }: { readonly domain: string; readonly language: string },
): string {
  const text = (name: string): string => annotations[annotationKey(domain, name)] ?? '';
  const translated = text(translatedKey(key, language));
  return translated === '' ? text(key) : translated;
}
