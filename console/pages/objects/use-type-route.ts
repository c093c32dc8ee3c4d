import { computed, type ComputedRef } from 'vue';
import { useRoute } from 'vue-router';

import type { ServedType } from '../../server/served-types.ts';
import { useTypes } from '../../server/use-server.ts';

/** Returns the type that the address of the page names. */
export function useTypeRoute(): {
  readonly type: ComputedRef<ServedType | undefined>;
  /** Whether the types are still being read. */
  readonly isPending: ComputedRef<boolean>;
  readonly error: ComputedRef<Error | null>;
} {
  const route = useRoute();
  const { find, isPending, error } = useTypes();
  const parameter = (name: string): string => {
    const value = route.params[name];
    return typeof value === 'string' ? value : '';
  };
  const type = computed(() => {
    const group = parameter('group');
    return find(group === '-' ? '' : group, parameter('version'), parameter('plural'));
  });
  return { type, isPending, error };
}
