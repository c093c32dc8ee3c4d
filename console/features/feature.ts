import type { ConsoleObject, ConsoleObjectPages, LazyComponent, TypeSelector } from 'ledgerplane/console-kit';
import type { Component } from 'vue';
import type { RouteRecordRaw } from 'vue-router';

import type { ServedType } from '../server/served-types.ts';

export type { LazyComponent } from 'ledgerplane/console-kit';

declare module 'vue-router' {
  interface RouteMeta {
    /** The key of the page's title in the messages. */
    readonly title?: string;
    /**
     * The page is shown if the user has at least one of these UI permissions. A page without permissions is shown to
     * everybody.
     */
    readonly permissions?: readonly string[];
    /** The page's entry in the sidebar. */
    readonly menu?: MenuEntry;
    /** Whether the page is shown without a sidebar and without a log-in. */
    readonly isPublic?: boolean;
    /** Loads the page's files before the user opens the page: after the first page of a session. */
    readonly preload?: () => Promise<unknown>;
  }
}

export type MenuEntry = {
  readonly icon: Component;
  /** Entries are shown in ascending order. Home has 0. Steps of 10 leave room for later entries. */
  readonly order: number;
};

/** An entry in the sidebar. Entries of plugins are below those of the console. */
export type MenuLink = {
  readonly to: string;
  /** The key of the title in the messages. */
  readonly title: string;
  readonly icon: Component;
  readonly order: number;
  readonly permissions?: readonly string[] | undefined;
  /** The plugin that adds the entry. */
  readonly plugin?: string;
};

/** A column that a plugin adds to the table of a type, after the declared columns. */
export type TableColumn = {
  readonly type: TypeSelector;
  readonly name: string;
  readonly title: string;
  readonly permissions?: readonly string[] | undefined;
  readonly text: (object: ConsoleObject) => string;
};

/** A tab on the page of an object. The component of the tab has the properties `type` and `name`. */
export type ObjectTab = {
  /** The last segment of the tab's address. */
  readonly name: string;
  /** The key of the title in the messages. */
  readonly title: string;
  readonly order: number;
  readonly permissions?: readonly string[] | undefined;
  /** Returns whether the objects of a type have the tab. By default, all objects have the tab. */
  readonly appliesTo?: (type: ServedType) => boolean;
  readonly component: LazyComponent;
};

/**
 * An action in the menu of an object. The component of the action is a dialog with the properties `type` and `name`.
 */
export type ObjectAction = {
  readonly name: string;
  readonly title: string;
  readonly permissions?: readonly string[] | undefined;
  readonly appliesTo?: (type: ServedType) => boolean;
  /** A component that emits `close` to close the dialog. */
  readonly component: LazyComponent;
};

/** A card on the page Home. */
export type HomeCard = {
  readonly name: string;
  readonly order: number;
  /** `wide`: the card takes the whole width. */
  readonly width?: 'wide' | undefined;
  readonly permissions?: readonly string[] | undefined;
  readonly component: LazyComponent;
};

/** A section of the page Profile. */
export type ProfileSection = {
  readonly name: string;
  readonly order: number;
  readonly component: LazyComponent;
};

/** A button below the password on the page Log in, for example for an identity provider. */
export type LogInMethod = {
  readonly name: string;
  readonly order: number;
  readonly component: LazyComponent;
};

/**
 * A type with its own pages. `createAt` is the address of the page that creates the type's objects; the page replaces
 * the generated form.
 */
export type CoveredType = TypeSelector & { readonly createAt?: string };

/** The contribution of one folder of `pages/`, or of a plugin. */
export type Feature = {
  readonly routes?: readonly RouteRecordRaw[];
  /** Entries in the sidebar, in addition to the entries of the routes. */
  readonly menu?: readonly MenuLink[];
  readonly objectTabs?: readonly ObjectTab[];
  readonly objectActions?: readonly ObjectAction[];
  /** The groups of the types may contain `${domain}`. */
  readonly objectPages?: readonly ConsoleObjectPages[];
  /** The types with objects on the feature's own pages. The sidebar lists these types under “More types”. */
  readonly coveredTypes?: (domain: string) => readonly CoveredType[];
  readonly tableColumns?: readonly TableColumn[];
  readonly homeCards?: readonly HomeCard[];
  readonly profileSections?: readonly ProfileSection[];
  readonly logInMethods?: readonly LogInMethod[];
};

/** Declares a feature. The function returns its argument, and exists only for the type check. */
export function defineFeature(feature: Feature): Feature {
  return feature;
}
