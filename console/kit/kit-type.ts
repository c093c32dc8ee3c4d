import type * as declared from 'ledgerplane/console-kit';

import type * as kit from './console-kit.ts';

/** Does not compile if the kit lacks a declared export or has an undeclared export. */
type Names = { readonly [name in keyof typeof declared]: unknown };
export type Missing = Exclude<keyof Names, keyof typeof kit>;
export type Undeclared = Exclude<keyof typeof kit, keyof Names>;

/** The functions of the kit, which must have their declared types. */
type Functions = Pick<
  typeof declared,
  | 'after'
  | 'confirm'
  | 'defineConsole'
  | 'every'
  | 'showToast'
  | 'useConsole'
  | 'useFailureText'
  | 'useMessages'
  | 'usePageTitle'
  | 'usePermission'
  | 'useTypes'
>;

type Assert<Condition extends true> = Condition;
export type KitIsDeclared = Assert<typeof kit extends Functions ? true : false>;
export type KitIsComplete = Assert<[Missing, Undeclared] extends [never, never] ? true : false>;
