import { ClientError } from 'ledgerplane/client';
import { onScopeDispose, shallowRef, watch, type Ref } from 'vue';

import { every } from '../../../server/browser-clock.ts';
import { useServer } from '../../../server/use-server.ts';
import { packagePath } from '../plugin-object.ts';

export type LogLine = {
  readonly key: number;
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields?: unknown;
};

type LogPage = { readonly cursor: string; readonly dropped: number; readonly items: readonly Omit<LogLine, 'key'>[] };

/** The maximum number of lines in the page. The server keeps the last 256 KiB of each plugin. */
const linesMax = 2_000;
const pollMs = 2_000;

type PluginLogs = {
  readonly lines: Readonly<Ref<readonly LogLine[]>>;
  /** The number of lines that were lost between two reads. */
  readonly dropped: Readonly<Ref<number>>;
  readonly error: Readonly<Ref<unknown>>;
  readonly isPending: Readonly<Ref<boolean>>;
  readonly retry: () => void;
};

/** Returns the log lines of a plugin on the node that responds. New lines are read every two seconds. */
export function usePluginLogs(name: () => string): PluginLogs {
  const { client, platform } = useServer();
  const lines = shallowRef<readonly LogLine[]>([]);
  const dropped = shallowRef(0);
  const error = shallowRef<unknown>();
  const isPending = shallowRef(true);
  let cursor = '';
  let lastKey = 0;
  let reading: AbortController | undefined;

  const read = async (): Promise<void> => {
    if (reading !== undefined || document.hidden) return;
    const current = (reading = new AbortController());
    try {
      const query = cursor === '' ? {} : { after: cursor };
      const path = packagePath(platform.domain, name(), 'logs');
      const page = await client.request<LogPage>(path, { query, signal: current.signal });
      if (page !== undefined) take(page);
      error.value = undefined;
      isPending.value = false;
    } catch (failure) {
      // A lost connection is not an error here: the shell shows it, and the next read follows when the connection is
      // back.
      if (!current.signal.aborted && failure instanceof ClientError) error.value = failure;
    } finally {
      if (reading === current) reading = undefined;
    }
  };
  const take = (page: LogPage): void => {
    cursor = page.cursor;
    dropped.value += page.dropped;
    if (page.items.length === 0) return;
    const added = page.items.map((line) => {
      lastKey += 1;
      return { ...line, key: lastKey };
    });
    lines.value = [...lines.value, ...added].slice(-linesMax);
  };
  const restart = (): void => {
    reading?.abort();
    reading = undefined;
    cursor = '';
    lines.value = [];
    dropped.value = 0;
    isPending.value = true;
    error.value = undefined;
    void read();
  };
  watch(name, restart, { immediate: true });
  const end = every(pollMs, () => {
    if (error.value === undefined) void read();
  });
  onScopeDispose(() => {
    end();
    reading?.abort();
  });
  return { lines, dropped, error, isPending, retry: restart };
}
