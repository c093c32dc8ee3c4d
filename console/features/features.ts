import type { ConsoleObjectPages, TypeSelector } from 'ledgerplane/console-kit';
import { computed, shallowReactive, type ComputedRef } from 'vue';

import type { CoveredType, Feature, LazyComponent, MenuLink, TableColumn } from './feature.ts';
import { withDomain } from './with-domain.ts';

/** Finds features by their file name `feature.ts`, so a new folder of `pages/` needs no registration. */
const modules = import.meta.glob<Feature>('../pages/*/feature.ts', { eager: true, import: 'default' });

const builtIn: readonly Feature[] = Object.values(modules);
/** The features of plugins, by plugin name. */
const contributed = shallowReactive(new Map<string, Feature>());

const features = computed(() => [
  ...builtIn,
  ...[...contributed].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, feature]) => feature),
]);

/** Adds the feature of a plugin, or replaces the plugin's earlier feature. */
export function contribute(plugin: string, feature: Feature): void {
  contributed.set(plugin, feature);
}

export function withdraw(plugin: string): void {
  contributed.delete(plugin);
}

type Ordered = { readonly order: number };

const byOrder = (left: Ordered, right: Ordered): number => left.order - right.order;

function parts<T>(partsOf: (feature: Feature) => readonly T[] | undefined): ComputedRef<readonly T[]> {
  return computed(() => features.value.flatMap((feature) => partsOf(feature) ?? []));
}

function orderedParts<T extends Ordered>(
  partsOf: (feature: Feature) => readonly T[] | undefined,
): ComputedRef<readonly T[]> {
  const all = parts(partsOf);
  return computed(() => all.value.toSorted(byOrder));
}

/** The routes of the console itself. */
export const routes = builtIn.flatMap((feature) => feature.routes ?? []);
export const menu = orderedParts(menuOf);
export const objectTabs = orderedParts((feature) => feature.objectTabs);
export const objectActions = parts((feature) => feature.objectActions);
export const homeCards = orderedParts((feature) => feature.homeCards);
export const profileSections = orderedParts((feature) => feature.profileSections);
export const logInMethods = orderedParts((feature) => feature.logInMethods);
const objectPages = parts((feature) => feature.objectPages);
const tableColumns = parts((feature) => feature.tableColumns);

/** Returns the component that replaces a generated page of a type; undefined without such a component. */
export function objectPageOf(
  type: TypeSelector,
  page: Exclude<keyof ConsoleObjectPages, 'type'>,
  domain: string,
): LazyComponent | undefined {
  return objectPages.value.find((each) => isOf(inDomain(each.type, domain), type) && each[page] !== undefined)?.[page];
}

/** Returns the types with their own pages. */
export function coveredTypesOf(domain: string): readonly CoveredType[] {
  return features.value.flatMap(({ coveredTypes }) => coveredTypes?.(domain) ?? []);
}

/**
 * Returns the address of the page that replaces the generated form for new objects of a type; undefined without such a
 * page.
 */
export function createPageOf(type: TypeSelector, domain: string): string | undefined {
  return coveredTypesOf(domain).find((each) => isOf(each, type))?.createAt;
}

/** Returns the columns that plugins add to the table of a type. */
export function tableColumnsOf(type: TypeSelector): readonly TableColumn[] {
  return tableColumns.value.filter((column) => isOf(column.type, type));
}

/** Returns a selector with the platform's domain in place of `${domain}` in its group. */
export function inDomain({ group, plural }: TypeSelector, domain: string): TypeSelector {
  return { group: withDomain(group, domain), plural };
}

/** Returns whether a selector selects a type. */
export function isOf(selector: TypeSelector, { group, plural }: TypeSelector): boolean {
  return selector.group === group && selector.plural === plural;
}

function menuOf({ routes: added = [], menu: links = [] }: Feature): readonly MenuLink[] {
  return [
    ...links,
    ...added.flatMap(({ path, meta }) =>
      meta?.menu === undefined
        ? []
        : [{ ...meta.menu, to: path, title: meta.title ?? '', permissions: meta.permissions }],
    ),
  ];
}
