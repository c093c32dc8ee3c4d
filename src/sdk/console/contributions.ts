import type { Component } from 'vue';

import type { TypeName } from '../../client/client.ts';

/** The parts that a plugin adds to the console. Every title is a key of the plugin's own messages. */

/** Loads a component when it is first shown: `async () => import('./posts-page.vue')`. */
export type LazyComponent = () => Promise<{ readonly default: Component }>;

/** A type of objects, in all of its versions. */
export type TypeSelector = Pick<TypeName, 'group' | 'plural'>;

/** A served type, in the form that components for objects receive. */
export type ServedType = TypeName & {
  readonly kind: string;
  readonly singular: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  /** The names of the subresources, for example `status` and `history`. */
  readonly subresources: readonly string[];
};

/** A part that is shown to users with any of these UI permissions. Without permissions, all users see the part. */
type Guarded = { readonly permissions?: readonly string[] | undefined };

type Ordered = {
  /** Parts are shown in ascending order; 0 by default. */
  readonly order?: number | undefined;
};

export type ConsoleRoute = {
  /**
   * The path below the plugin's own address, as vue-router reads it: `/posts/:name` is shown at
   * `/console/apps/<plugin>/posts/:name`.
   */
  readonly path: string;
  /** `own`: a page of the user's own account, shown at `/console/uc/<plugin>/…`. */
  readonly area?: 'own' | undefined;
  readonly component: LazyComponent;
  /** Whether the component receives the parameters of the path as properties. */
  readonly props?: boolean | undefined;
  readonly meta?:
    | (Guarded & {
        readonly title?: string | undefined;
        /** The page's entry in the sidebar. Requires a title, and a path without parameters. */
        readonly menu?: (Ordered & { readonly icon?: Component | undefined }) | undefined;
      })
    | undefined;
};

/** An entry in the sidebar that leads to an address of the console, for example to the list of a type. */
export type ConsoleMenuEntry = Guarded &
  Ordered & {
    readonly title: string;
    /** An address below `/console`, for example `/objects/example.com/v1/things`. */
    readonly to: string;
    readonly icon?: Component | undefined;
  };

/** A tab on the pages of objects. Its component has the properties `type` (`ServedType`) and `name`. */
export type ConsoleObjectTab = Guarded &
  Ordered & {
    /** The last segment of the tab's address. */
    readonly name: string;
    readonly title: string;
    /** The types with the tab; all types by default. */
    readonly types?: readonly TypeSelector[] | undefined;
    readonly component: LazyComponent;
  };

/**
 * An action in the menu of an object. Its component is a dialog (`UiDialog`) with the properties `type` and `name`. The
 * component emits `close`.
 */
export type ConsoleObjectAction = Guarded & {
  readonly name: string;
  readonly title: string;
  readonly types?: readonly TypeSelector[] | undefined;
  readonly component: LazyComponent;
};

/** Pages that replace the generated pages of a type. If a member is absent, the generated page is kept. */
export type ConsoleObjectPages = {
  readonly type: TypeSelector;
  /** Replaces the table of objects. The component has the property `type`. */
  readonly list?: LazyComponent | undefined;
  /** Replaces the page for a new object. The component has the property `type`. */
  readonly create?: LazyComponent | undefined;
  /** Replaces the tab Overview. The component has the properties `type` and `name`. */
  readonly overview?: LazyComponent | undefined;
  /** Replaces the tab Edit. The component has the properties `type` and `name`. */
  readonly edit?: LazyComponent | undefined;
};

/** A column in the table of a type, after the columns that the type declares. */
export type ConsoleTableColumn = Guarded & {
  readonly type: TypeSelector;
  readonly name: string;
  readonly title: string;
  /** Returns the text of a cell. The function is called for each visible row, so it must be quick. */
  readonly text: (object: ConsoleObject) => string | number | boolean | null | undefined;
};

/** An object, as the API returns it. */
export type ConsoleObject = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly creationTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [member: string]: unknown;
};

/** A card on the page Home. */
export type ConsoleHomeCard = Guarded &
  Ordered & {
    readonly name: string;
    /** `wide`: the card takes the whole width. */
    readonly width?: 'wide' | undefined;
    readonly component: LazyComponent;
  };

/**
 * Texts by key, in any number of levels: `{ posts: { title: 'Posts' } }` has the key `posts.title`. `{name}` in a text
 * is a placeholder. `one post | {n} posts` has a singular and a plural.
 */
export type ConsoleMessages = { readonly [key: string]: string | ConsoleMessages };

/** The front end of a plugin. All members are optional. */
export type ConsoleDefinition = {
  readonly routes?: readonly ConsoleRoute[] | undefined;
  readonly menu?: readonly ConsoleMenuEntry[] | undefined;
  readonly objectTabs?: readonly ConsoleObjectTab[] | undefined;
  readonly objectActions?: readonly ConsoleObjectAction[] | undefined;
  readonly objectPages?: readonly ConsoleObjectPages[] | undefined;
  /**
   * Returns the types whose objects are on pages of the front end. The sidebar lists them under “More types”. The
   * domain is that of the platform's groups, for example `svc.run`.
   */
  readonly coveredTypes?: ((domain: string) => readonly TypeSelector[]) | undefined;
  readonly tableColumns?: readonly ConsoleTableColumn[] | undefined;
  readonly homeCards?: readonly ConsoleHomeCard[] | undefined;
  /** Messages by language, such as `en` and `zh`. If a language lacks a text, the text of `en` is shown. */
  readonly messages?: { readonly en: ConsoleMessages; readonly [language: string]: ConsoleMessages } | undefined;
};
