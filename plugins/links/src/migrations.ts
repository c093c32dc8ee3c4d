import type { MigrationDeclaration } from 'ledgerplane/plugin';

import { link, lowerCase, type Link } from './link.ts';

/** From 2.0.0 on, tags are in lower case. */
const lowerTags: MigrationDeclaration = {
  id: 'lower-tags',
  type: link,
  up: ({ spec, ...object }: Link) =>
    spec.tags === undefined ? undefined : { ...object, spec: { ...spec, tags: lowerCase(spec.tags) } },
};

/** A link before 3.0.0, which may have no title. */
type Untitled = Omit<Link, 'spec'> & { readonly spec: Omit<Link['spec'], 'title'> & { readonly title?: string } };

/** From 3.0.0 on, a link has a title. The slug is a title that people recognize. */
const fillTitle: MigrationDeclaration = {
  id: 'fill-title',
  type: link,
  up: ({ spec, ...object }: Untitled) =>
    spec.title === undefined ? { ...object, spec: { ...spec, title: spec.slug } } : undefined,
};

export const migrations: readonly MigrationDeclaration[] = [lowerTags, fillTitle];
