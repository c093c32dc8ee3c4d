import type { MigrationDeclaration } from 'ledgerplane/plugin';

import { link, lowerCase, type Link } from './link.ts';

/** Converts the tags of stored links to lower case, which version 2.0.0 of the plugin introduced. */
const lowerTags: MigrationDeclaration = {
  id: 'lower-tags',
  type: link,
  up: ({ spec, ...object }: Link) =>
    spec.tags === undefined ? undefined : { ...object, spec: { ...spec, tags: lowerCase(spec.tags) } },
};

/** A link that was stored before version 3.0.0 of the plugin, possibly without a title. */
type Untitled = Omit<Link, 'spec'> & { readonly spec: Omit<Link['spec'], 'title'> & { readonly title?: string } };

/** Version 3.0.0 of the plugin requires a title. A link without a title receives its slug as the title. */
const fillTitle: MigrationDeclaration = {
  id: 'fill-title',
  type: link,
  up: ({ spec, ...object }: Untitled) =>
    spec.title === undefined ? { ...object, spec: { ...spec, title: spec.slug } } : undefined,
};

export const migrations: readonly MigrationDeclaration[] = [lowerTags, fillTitle];
