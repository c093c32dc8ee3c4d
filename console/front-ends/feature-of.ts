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

import { isOf } from '../features/features.ts';
import type { Feature, TableColumn } from '../features/feature.ts';
import { addressOf } from './addresses.ts';
import { messageKey } from './plugin-context.ts';
import { pluginPart } from './plugin-part.ts';

/** Returns the front end of a plugin as a feature of the console. */
export function featureOf(plugin: Console['plugin'], definition: ConsoleDefinition): Feature {
  const { name } = plugin;
  const part = (component: LazyComponent): LazyComponent => pluginPart(plugin, component);
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
      ...(definition.menu ?? []),
    ].map((link) => ({ ...titled(link), order: link.order ?? 0, icon: link.icon ?? Puzzle, plugin: name })),
    objectTabs: (definition.objectTabs ?? []).map((tab) => ({
      ...titled(tab),
      order: tab.order ?? 100,
      name: `${name}-${tab.name}`,
      appliesTo: selecting(tab.types),
      component: part(tab.component),
    })),
    objectActions: (definition.objectActions ?? []).map((action) => ({
      ...titled(action),
      name: `${name}-${action.name}`,
      appliesTo: selecting(action.types),
      component: part(action.component),
    })),
    objectPages: (definition.objectPages ?? []).map(({ type, list, create, overview, edit }) => ({
      type,
      list: maybe(list),
      create: maybe(create),
      overview: maybe(overview),
      edit: maybe(edit),
    })),
    tableColumns: (definition.tableColumns ?? []).map((column) => columnOf(name, column)),
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
    component: pluginPart(plugin, component),
    ...(props === true ? { props: true } : {}),
    meta: {
      ...(title === undefined ? {} : { title: messageKey(plugin.name, title) }),
      ...(permissions === undefined ? {} : { permissions }),
    },
  };
}

function selecting(types: readonly TypeSelector[] | undefined): (type: TypeSelector) => boolean {
  return (type) => types === undefined || types.some((each) => isOf(each, type));
}

function columnOf(plugin: string, { text, ...column }: ConsoleTableColumn): TableColumn {
  return {
    ...column,
    name: `${plugin}-${column.name}`,
    title: messageKey(plugin, column.title),
    // A cell has no place for a failure, so a function that throws leaves the cell without a value.
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
