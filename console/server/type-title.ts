import type { TypeName } from 'ledgerplane/client';

/** The part of the page's translations that is used here. */
type Texts = { t(key: string): string; te(key: string): boolean };

export type NamedType = Pick<TypeName, 'group' | 'plural'> & { readonly kind: string };

/**
 * Returns the name of a type in the language of the page. The console has the names of the platform's types. Front ends
 * of plugins have those of their types, in the message `types.<plural>`; the group of such a type begins with the name
 * of the plugin.
 */
export function typeTitle({ group, plural, kind }: NamedType, domain: string, texts: Texts): string {
  const isPlatforms = group === '' || group === `audit.${domain}` || group === `plugin.${domain}`;
  const key = isPlatforms ? `server.types.${plural}` : `plugin.${group.split('.', 1)[0] ?? ''}.types.${plural}`;
  return texts.te(key) ? texts.t(key) : kind;
}
