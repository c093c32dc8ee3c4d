import { onScopeDispose, shallowRef, watch, type Ref } from 'vue';

import type { ServedType } from '../../../server/served-types.ts';
import { useServer } from '../../../server/use-server.ts';
import { LiveTable } from './live-table.ts';
import type { TableQuery } from './table-answer.ts';

/** Returns the table of a type and a query, a new one whenever either changes. It pauses while the window is hidden. */
export function useLiveTable(type: () => ServedType, query: () => TableQuery): Readonly<Ref<LiveTable>> {
  const { client, connection, session } = useServer();
  const create = (): LiveTable => {
    const table = new LiveTable(client, type(), query());
    void table.open();
    return table;
  };
  const current = shallowRef(create());
  watch([type, () => JSON.stringify(query())], () => {
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
  // After the user has logged in again.
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
