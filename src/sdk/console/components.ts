import type { Component, VNode } from 'vue';

/**
 * Declarations of the console's shared components. The console serves their code at `/console/kit/v1/`. Their look
 * follows the theme. A component passes attributes other than its properties, such as `class` and `placeholder`, to its
 * root element.
 */

/** A component with these properties and slots. */
export type KitComponent<Props, Slots = object> = new () => {
  readonly $props: Props & { readonly class?: unknown };
  readonly $slots: Slots;
};

type Slot<Properties = void> = (properties: Properties) => readonly VNode[] | VNode | undefined;
type Model<T> = { readonly modelValue: T; readonly 'onUpdate:modelValue'?: (value: T) => void };
/** Native attributes, for example `autocomplete`. */
type Attributes = { readonly [name: string]: unknown };

/** A button, or a link of the same look if `to` is set. `label` names a button that shows only an icon. */
export declare const UiButton: KitComponent<
  {
    readonly variant?: 'primary' | 'secondary' | 'ghost' | 'danger';
    readonly size?: 'normal' | 'small';
    readonly type?: 'button' | 'submit';
    readonly icon?: Component;
    readonly busy?: boolean;
    readonly disabled?: boolean;
    readonly to?: string;
    readonly label?: string;
    readonly form?: string;
    onClick?(event: Event): unknown;
  },
  { readonly default?: Slot }
>;
export declare const UiCheckbox: KitComponent<Model<boolean> & { readonly label: string; readonly disabled?: boolean }>;
/** A labelled control. The slot receives attributes, which `v-bind` passes to the control. */
export declare const UiField: KitComponent<
  {
    readonly label: string;
    readonly hint?: string | undefined;
    /** The problem with the value. Screen readers announce the problem. */
    readonly problem?: string | undefined;
    readonly required?: boolean;
  },
  { readonly default?: Slot<Attributes> }
>;
export declare const UiInput: KitComponent<
  Model<string> & {
    readonly type?: 'text' | 'password' | 'search' | 'email' | 'datetime-local' | 'number';
  } & Attributes
>;
export declare const UiTextarea: KitComponent<Model<string> & Attributes>;
export declare const UiSelect: KitComponent<
  Model<string> & { readonly options: readonly { readonly value: string; readonly label: string }[] } & Attributes
>;
/** An editor for YAML and JSON. */
export declare const UiCodeEditor: KitComponent<
  Model<string> & {
    readonly label: string;
    readonly language?: 'yaml' | 'json';
    readonly isReadOnly?: boolean;
    readonly onSave?: () => unknown;
  }
>;
/**
 * A choice between two changes of the same values. `settle` is emitted with the choice of each conflict, by its key.
 * `isCode` shows the values as code.
 */
export declare const UiConflicts: KitComponent<{
  readonly conflicts: readonly ShownConflict[];
  readonly isCode?: boolean;
  readonly onSettle?: (choices: ReadonlyMap<string, ConflictSide>) => unknown;
}>;

/** The frame of a page. `fill`: the content takes the height of the window. */
export declare const UiPage: KitComponent<
  { readonly title: string; readonly subtitle?: string | undefined; readonly fill?: boolean },
  { readonly default?: Slot; readonly above?: Slot; readonly beside?: Slot; readonly actions?: Slot }
>;
/** A titled part of a page. `flush`: the content reaches the edges, for tables. */
export declare const UiCard: KitComponent<
  { readonly title?: string; readonly flush?: boolean },
  { readonly default?: Slot; readonly actions?: Slot }
>;
/**
 * An entry of a list in a `flush` card: a name with badges, small facts below it, other content, and actions at the
 * end. `before` is for a control that chooses the entry.
 */
export declare const UiEntry: KitComponent<
  object,
  {
    readonly name?: Slot;
    readonly facts?: Slot;
    readonly default?: Slot;
    readonly actions?: Slot;
    readonly before?: Slot;
  }
>;
/** Names and values, side by side. A slot named after a key replaces the text of a value. */
export declare const UiFacts: KitComponent<
  { readonly facts: readonly { readonly key: string; readonly label: string; readonly text?: string | undefined }[] },
  { readonly [key: string]: Slot | undefined }
>;
/** Tabs that are links. Each tab has an address. */
export declare const UiNavTabs: KitComponent<{
  readonly label: string;
  readonly tabs: readonly { readonly key: string; readonly title: string; readonly to: string }[];
  readonly current: string;
}>;
/** The age of a time, which is updated while it is shown. `at` is an RFC 3339 time. */
export declare const UiTime: KitComponent<{ readonly at: string }>;

/** A short state or count. The text alone must carry the meaning, without the colour. */
export declare const UiBadge: KitComponent<
  { readonly tone?: 'neutral' | 'good' | 'warn' | 'bad' | 'accent' },
  { readonly default?: Slot }
>;
/** Shown in place of content that does not exist. The slot offers the next step. */
export declare const UiEmpty: KitComponent<
  { readonly title: string; readonly text?: string | undefined; readonly icon?: Component },
  { readonly default?: Slot }
>;
/** Shown in place of content that could not be read. */
export declare const UiFailure: KitComponent<{
  readonly error: unknown;
  readonly title?: string | undefined;
  readonly canRetry?: boolean;
  readonly onRetry?: () => unknown;
}>;
/** A bar above content that is out of date or cannot be changed. */
export declare const UiNotice: KitComponent<object, { readonly default?: Slot; readonly actions?: Slot }>;
/** Placeholder lines in place of content that is being read. */
export declare const UiLoading: KitComponent<{ readonly lines?: number }>;

/** A modal dialog. Escape, the close button and a press outside close the dialog, unless it is `persistent`. */
export declare const UiDialog: KitComponent<
  {
    readonly open: boolean;
    readonly 'onUpdate:open'?: (open: boolean) => void;
    readonly title: string;
    readonly text?: string | undefined;
    readonly persistent?: boolean;
    readonly width?: 'normal' | 'wide';
  },
  { readonly default?: Slot; readonly actions?: Slot }
>;
/** A button that opens a menu. The slot is the button, which must be one element. */
export declare const UiMenu: KitComponent<
  { readonly choices: readonly MenuChoice[]; readonly align?: 'start' | 'end' },
  { readonly default?: Slot }
>;
/** Shows its slot if the user has any of the UI permissions, otherwise its slot `otherwise`. */
export declare const PermissionGuard: KitComponent<
  { readonly permissions: readonly string[] },
  { readonly default?: Slot; readonly otherwise?: Slot }
>;

export type ConflictSide = 'mine' | 'theirs' | 'both';

/** A value that the user and somebody else have changed. */
export type ShownConflict = {
  readonly key: string;
  readonly title: string;
  readonly mine: string;
  readonly theirs: string;
  /** The text of a third choice, which keeps both values. */
  readonly both?: string | undefined;
};

export type MenuChoice = {
  readonly key: string;
  readonly title: string;
  readonly icon?: Component;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Whether the entry is the current choice. */
  readonly isChosen?: boolean;
  /** Whether a line separates the entry from the entries above. */
  readonly isSeparated?: boolean;
  select(): void;
};
