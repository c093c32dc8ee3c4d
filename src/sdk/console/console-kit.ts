/**
 * The kit for front ends of plugins (`ledgerplane/console-kit`). This file contains declarations for authors. The
 * console contains the code and serves it at `/console/kit/v1/`. With the preset of `ledgerplane/console-kit/vite`, the
 * imports of a front end refer to the console's module.
 */
import type { ComputedRef, Ref } from 'vue';

import type { RemoteClient, TypeName } from '../../client/client.ts';
import type { ConsoleDefinition, ServedType } from './contributions.ts';

export * from './components.ts';
export type * from './contributions.ts';

/** Declares the front end of a plugin. The entry module of the front end must have the result as its default export. */
export function defineConsole(definition: ConsoleDefinition): ConsoleDefinition {
  return definition;
}

/** The interface of the console for the components of a plugin. */
export type Console = {
  /** The plugin of the calling component. */
  readonly plugin: { readonly name: string; readonly version: string };
  /** Sends requests as the user of the page. */
  readonly client: RemoteClient;
  /** The domain of the platform's groups, for example `svc.run`. */
  readonly domain: string;
  readonly username: ComputedRef<string>;
  /** Returns the address of a page of this plugin, for links: `addressOf('/posts')`. */
  readonly addressOf: (path: string, area?: 'own') => string;
};

/** Returns the console. Call this function in the setup of a component, like all functions named `use…`. */
export declare function useConsole(): Console;

/** Returns the plugin's messages in the language of the page. */
export declare function useMessages(): {
  /** Returns a text. `values` fill the placeholders; `count` fills `{n}`, and chooses singular or plural. */
  readonly t: (key: string, values?: Readonly<Record<string, unknown>>, count?: number) => string;
  /** The language, for example `en`. */
  readonly language: Readonly<Ref<string>>;
};

/** A request for objects of a type. */
export type Intent = {
  readonly verb: string;
  readonly type: TypeName;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
};

/** Returns functions that decide which elements the user sees. Their results follow changes of rights. */
export declare function usePermission(): {
  /** Whether the user has any of these UI permissions. Always true without permissions. */
  readonly has: (permissions: readonly string[] | undefined) => boolean;
  /** Whether the user's roles allow a request for objects. */
  readonly may: (intent: Intent) => boolean;
  /** Whether the rights are known. */
  readonly isKnown: ComputedRef<boolean>;
};

/** Returns the types that the user may list. */
export declare function useTypes(): {
  readonly types: ComputedRef<readonly ServedType[]>;
  readonly find: (group: string, version: string, plural: string) => ServedType | undefined;
};

/** Sets the title of the window while the calling component is shown. */
export declare function usePageTitle(title: string | (() => string)): void;

/** Returns a function that describes a failure to the user. */
export declare function useFailureText(): (error: unknown) => string;

/** Shows and announces a short message. A failure stays until the user closes it. */
export declare function showToast(kind: 'success' | 'failure', text: string): void;

/** Asks the user to confirm an action. Resolves with true if the user confirms. */
export declare function confirm(question: {
  readonly title: string;
  readonly text?: string | undefined;
  /** The text of the button that confirms: a verb for the action, such as “Delete”. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** A text that the user must type to confirm. For actions that cannot be undone. */
  readonly typed?: string | undefined;
}): Promise<boolean>;

/** Calls `task` once after `ms`. Returns a function that cancels the call. */
export declare function after(ms: number, task: () => void): () => void;

/** Calls `task` every `ms`. Returns a function that ends the calls. */
export declare function every(ms: number, task: () => void): () => void;
