import type { Component } from 'vue';

/** An entry of a menu. */
export type MenuChoice = {
  readonly key: string;
  readonly title: string;
  readonly icon?: Component;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Whether the entry is the present choice. */
  readonly isChosen?: boolean;
  /** Whether a line separates the entry from the entries above it. */
  readonly isSeparated?: boolean;
  select(): void;
};
