import type { TypeName } from 'ledgerplane/client';

/** The used part of the page's translations. */
type Texts = { t(key: string): string; te(key: string): boolean };

export type NamedType = Pick<TypeName, 'group' | 'plural'> & { readonly kind: string };

/**
 * Returns the name of a type in the page's language. The console contains the names of the platform's types. The front
 * end of a plugin contains the names of the plugin's types in the messages `types.<plural>`. The group of such a type
 * begins with the name of the plugin.
 */
export function typeTitle({ group, plural, kind }: NamedType, domain: string, texts: Texts): string {
  const isPlatforms = group === '' || group === `audit.${domain}` || group === `plugin.${domain}`;
  const key = isPlatforms ? `server.types.${plural}` : `plugin.${group.split('.', 1)[0] ?? ''}.types.${plural}`;
  return texts.te(key) ? texts.t(key) : kind;
}
