import { shallowRef, type Ref } from 'vue';

import { typePath, type ServedType } from '../../../server/served-types.ts';

/** A view of a table with a name, kept in this browser. */
export type SavedView = {
  readonly name: string;
  /** The query of the page's address, without the question mark. */
  readonly query: string;
};

const viewsMax = 50;

/** The saved views of one type. */
export type SavedViews = {
  readonly views: Readonly<Ref<readonly SavedView[]>>;
  /** Saves a view, and replaces a view with the same name. Beyond the maximum, the oldest view is removed. */
  readonly save: (view: SavedView) => void;
  readonly remove: (name: string) => void;
};

export function useSavedViews(type: ServedType): SavedViews {
  const key = `ledgerplane.views.${typePath(type)}`;
  const views = shallowRef(readViews(key));
  const write = (changed: readonly SavedView[]): void => {
    views.value = changed.slice(-viewsMax);
    localStorage.setItem(key, JSON.stringify(views.value));
  };
  return {
    views,
    save: (view) => {
      write([...views.value.filter(({ name }) => name !== view.name), view]);
    },
    remove: (name) => {
      write(views.value.filter((view) => view.name !== name));
    },
  };
}

/** Views in the form of another version of the console are ignored. */
function readViews(key: string): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false;
  return 'name' in value && typeof value.name === 'string' && 'query' in value && typeof value.query === 'string';
}
