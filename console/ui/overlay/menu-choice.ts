import type { Component } from 'vue';

/** An entry of a menu. */
export type MenuChoice = {
  readonly key: string;
  readonly title: string;
  readonly icon?: Component;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Marks the present choice among several. */
  readonly isChosen?: boolean;
  /** A line separates the entry from those above. */
  readonly isSeparated?: boolean;
  select(): void;
};
