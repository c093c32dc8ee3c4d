import { computed, type ComputedRef } from 'vue';
import { useRoute } from 'vue-router';

import type { ServedType } from '../../../server/served-types.ts';
import { useTypes } from '../../../server/use-server.ts';

/**
 * Returns the type in the address of the page, `…/:group/:version/:plural`. The history of a type that is no longer
 * served still exists, so such a type gets its members from the address.
 */
export function useAddressedType(): ComputedRef<ServedType> {
  const route = useRoute();
  const { find } = useTypes();
  return computed(() => {
    const [group = '', version = '', plural = ''] = ['group', 'version', 'plural'].map((part) =>
      String(route.params[part]),
    );
    const own = group === '-' ? '' : group;
    const unknown = { kind: plural, title: plural, singular: plural, verbs: [], shortNames: [], subresources: [] };
    return find(own, version, plural) ?? { group: own, version, plural, ...unknown };
  });
}
