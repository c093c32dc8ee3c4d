import { Puzzle } from '@lucide/vue';
import type {
  Console,
  ConsoleDefinition,
  ConsoleRoute,
  ConsoleTableColumn,
  LazyComponent,
  TypeSelector,
} from 'ledgerplane/console-kit';
import type { RouteRecordRaw } from 'vue-router';

import { inDomain, isOf } from '../features/features.ts';
import type { Feature, TableColumn } from '../features/feature.ts';
import { withDomain } from '../features/with-domain.ts';
import { addressOf } from './addresses.ts';
import { decodeTypes } from './decode-definition.ts';
import { messageKey } from './plugin-context.ts';
import { pluginPart } from './plugin-part.ts';

/** Returns the front end of a plugin as a feature of the console. `domain` replaces `${domain}` in groups and links. */
export function featureOf(plugin: Console['plugin'], definition: ConsoleDefinition, domain: string): Feature {
  const { name } = plugin;
  const part = (component: LazyComponent): LazyComponent => pluginPart(plugin, component, 'part');
  const maybe = (component: LazyComponent | undefined): LazyComponent | undefined => component && part(component);
  const titled = <T extends { readonly title: string }>(each: T): T => ({
    ...each,
    title: messageKey(name, each.title),
  });
  return {
    routes: (definition.routes ?? []).map((route) => routeOf(plugin, route)),
    menu: [
      ...(definition.routes ?? []).flatMap(({ path, area, meta: { title = '', menu, permissions } = {} }) =>
        menu === undefined ? [] : [{ ...menu, title, permissions, to: addressOf(name, path, area) }],
      ),
      ...(definition.menu ?? []).map((link) => ({ ...link, to: withDomain(link.to, domain) })),
    ].map((link) => ({ ...titled(link), order: link.order ?? 0, icon: link.icon ?? Puzzle, plugin: name })),
    objectTabs: (definition.objectTabs ?? []).map((tab) => ({
      ...titled(tab),
      order: tab.order ?? 100,
      name: `${name}-${tab.name}`,
      appliesTo: selecting(tab.types, domain),
      component: part(tab.component),
    })),
    objectActions: (definition.objectActions ?? []).map((action) => ({
      ...titled(action),
      name: `${name}-${action.name}`,
      appliesTo: selecting(action.types, domain),
      component: part(action.component),
    })),
    objectPages: (definition.objectPages ?? []).map(({ type, list, create, overview, edit }) => ({
      type,
      list: maybe(list),
      create: maybe(create),
      overview: maybe(overview),
      edit: maybe(edit),
    })),
    coveredTypes: (covered) => decodeTypes(() => definition.coveredTypes?.(covered)),
    tableColumns: (definition.tableColumns ?? []).map((column) => ({
      ...columnOf(name, column),
      type: inDomain(column.type, domain),
    })),
    homeCards: (definition.homeCards ?? []).map((card) => ({
      ...card,
      order: card.order ?? 100,
      name: `${name}-${card.name}`,
      component: part(card.component),
    })),
  };
}

function routeOf(plugin: Console['plugin'], { path, area, component, props, meta = {} }: ConsoleRoute): RouteRecordRaw {
  const { title, permissions } = meta;
  return {
    path: addressOf(plugin.name, path, area),
    component: pluginPart(plugin, component, 'page'),
    ...(props === true ? { props: true } : {}),
    meta: {
      ...(title === undefined ? {} : { title: messageKey(plugin.name, title) }),
      ...(permissions === undefined ? {} : { permissions }),
    },
  };
}

function selecting(types: readonly TypeSelector[] | undefined, domain: string): (type: TypeSelector) => boolean {
  return (type) => types === undefined || types.some((each) => isOf(inDomain(each, domain), type));
}

function columnOf(plugin: string, { text, ...column }: ConsoleTableColumn): TableColumn {
  return {
    ...column,
    name: `${plugin}-${column.name}`,
    title: messageKey(plugin, column.title),
    // A cell has no space for an error message, so the cell stays empty if the function throws.
    text: (object) => {
      try {
        const value = text(object);
        return value === undefined || value === null ? '–' : String(value);
      } catch {
        return '⚠';
      }
    },
  };
}
