import { computed, type ComputedRef } from 'vue';

import type { MenuLink } from '../../features/feature.ts';
import { coveredTypesOf, isOf, menu } from '../../features/features.ts';
import type { ServedType } from '../../server/served-types.ts';
import { usePluginTitles } from '../../server/use-plugin-titles.ts';
import { usePermission, useServer, useTypes } from '../../server/use-server.ts';

/** The pages of a plugin, and the plugin's types without their own pages. */
export type Section = {
  readonly key: string;
  /** The name of the plugin; undefined for the platform's types. */
  readonly title: string | undefined;
  /** The API groups of the types. */
  readonly groups: readonly string[];
  readonly links: readonly MenuLink[];
  readonly types: readonly ServedType[];
};

export type Sections = {
  /** The console's own pages. */
  readonly pages: ComputedRef<readonly MenuLink[]>;
  readonly sections: ComputedRef<readonly Section[]>;
  /** The types with their own pages. */
  readonly covered: ComputedRef<readonly ServedType[]>;
};

/** Returns the entries of the sidebar, which contains each page and each type exactly once. */
export function useSections(): Sections {
  const { platform } = useServer();
  const { has } = usePermission();
  const { groups, types } = useTypes();
  const plugins = usePluginTitles();
  const links = computed(() => menu.value.filter(({ permissions }) => has(permissions)));

  const withPages = computed(() => coveredTypesOf(platform.domain));

  function isCovered(type: ServedType): boolean {
    return withPages.value.some((each) => isOf(each, type));
  }

  const sections = computed(() => {
    const all = new Map<string, Section>();
    const sectionOf = (key: string, title: string | undefined): Section =>
      all.get(key) ?? { key, title, groups: [], links: [], types: [] };
    const ofPlugin = (name: string): Section =>
      sectionOf(`plugin ${name}`, plugins.value.titles.get(name) ?? readable(name));
    for (const link of links.value) {
      if (link.plugin === undefined) continue;
      const section = ofPlugin(link.plugin);
      all.set(section.key, { ...section, links: [...section.links, link] });
    }
    for (const { group, types: declared } of groups.value) {
      const shown = declared.filter((type) => !isCovered(type));
      if (shown.length === 0) continue;
      const plugin = plugins.value.byGroup.get(group);
      const section = plugin === undefined ? sectionOf(group, group === '' ? undefined : group) : ofPlugin(plugin);
      all.set(section.key, {
        ...section,
        groups: [...section.groups, group],
        types: [...section.types, ...shown],
      });
    }
    return [...all.values()];
  });

  return {
    pages: computed(() => links.value.filter(({ plugin }) => plugin === undefined)),
    sections,
    covered: computed(() => types.value.filter(isCovered)),
  };
}

/** Returns a title for a plugin with an unknown display name: `Shop floor` for `shop-floor`. */
function readable(name: string): string {
  const words = name.replaceAll('-', ' ');
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
