import { computed, onScopeDispose, shallowRef, watch, type Ref } from 'vue';

import { typePath, type ServedType } from '../../../server/served-types.ts';
import { usePermission, useServer } from '../../../server/use-server.ts';
import { LiveTable } from './live-table.ts';
import { PagedTable } from './paged-table.ts';
import { usePluginColumns, withPluginColumns } from './plugin-columns.ts';
import type { ShownTable } from './shown-table.ts';
import type { TableQuery } from './table-answer.ts';

/**
 * Returns the table of a type and a query, and creates a new table when either changes. Without a limit, the table is
 * live and pauses while the window is hidden. With a limit, the table shows pages.
 */
export function useShownTable(
  type: () => ServedType,
  query: () => TableQuery,
  limit: () => number | undefined,
): Readonly<Ref<ShownTable>> {
  const { client, connection, session } = useServer();
  const columns = usePluginColumns(type);
  const { may } = usePermission();
  const isWatched = computed(() => type().verbs.includes('watch') && may({ verb: 'watch', type: type() }));
  const create = (): ShownTable => {
    const pageLimit = limit();
    const columned = withPluginColumns(client, columns.value);
    const table =
      pageLimit === undefined
        ? new LiveTable(columned, type(), { ...query(), isWatched: isWatched.value })
        : new PagedTable(columned, type(), { ...query(), limit: pageLimit });
    void table.open();
    return table;
  };
  const current = shallowRef(create());
  // A table depends only on the address of its type. The name of the type changes with the language and the front ends.
  watch([() => typePath(type()), limit, columns, isWatched, () => JSON.stringify(query())], () => {
    current.value.close();
    current.value = create();
  });
  const resume = (): void => {
    if (!document.hidden) void current.value.resume();
  };
  const onVisibility = (): void => {
    if (document.hidden) current.value.pause();
    else resume();
  };
  document.addEventListener('visibilitychange', onVisibility);
  const forget = connection.onRestored(resume);
  // The user has logged in again after the session ended.
  watch(session.status, (status) => {
    if (status === 'user') resume();
  });
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', onVisibility);
    forget();
    current.value.close();
  });
  return current;
}
