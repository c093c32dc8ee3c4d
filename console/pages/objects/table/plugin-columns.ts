import type { ConsoleObject } from 'ledgerplane/console-kit';
import type { ChangeEvent, RemoteClient, RequestOptions, TypeName, WatchOptions } from 'ledgerplane/client';
import { computed, type ComputedRef } from 'vue';
import { useI18n } from 'vue-i18n';

import { tableColumnsOf } from '../../../features/features.ts';
import type { TypeSelector } from 'ledgerplane/console-kit';
import { usePermission } from '../../../server/use-server.ts';
import type { Column, TableAnswer } from './table-answer.ts';

/** A column of a plugin, with its title in the page's language. */
export type PluginColumn = { readonly title: string; readonly text: (object: ConsoleObject) => string };

/** Returns the columns of plugins in the table of a type, as far as the page's user may see them. */
export function usePluginColumns(type: () => TypeSelector): ComputedRef<readonly PluginColumn[]> {
  const { t } = useI18n();
  const { has } = usePermission();
  return computed((before?: readonly PluginColumn[]) => {
    const present = tableColumnsOf(type())
      .filter(({ permissions }) => has(permissions))
      .map(({ title, text }) => ({ title: t(title), text }));
    const isSame =
      before?.length === present.length &&
      before.every(({ title, text }, index) => title === present[index]?.title && text === present[index].text);
    // The table is created again for another list of columns, so equal columns must be the same list.
    return isSame ? before : present;
  });
}

/** Returns a client that adds the columns of plugins to tables, after the declared columns. */
export function withPluginColumns(client: RemoteClient, columns: readonly PluginColumn[]): RemoteClient {
  if (columns.length === 0) return client;
  async function request<T>(path: string, options: RequestOptions = {}): Promise<T | undefined> {
    const query = { ...options.query, includeObject: 'Object' };
    const answer: unknown = await client.request(path, { ...options, query });
    return (isTable(answer) ? extended(answer, columns) : answer) as T | undefined;
  }
  async function* watch<T>(type: TypeName, options: WatchOptions<T> = {}): AsyncGenerator<ChangeEvent<T>> {
    const all: WatchOptions<T> & { readonly bookmarks?: false } = {
      ...options,
      bookmarks: false,
      includeObject: 'Object',
    };
    for await (const event of client.watch<T>(type, all)) {
      const { object } = event;
      yield isTable(object) ? { ...event, object: extended(object, columns) as T } : event;
    }
  }
  return { ...client, request, watch };
}

function isTable(value: unknown): value is TableAnswer {
  return typeof value === 'object' && value !== null && 'rows' in value && Array.isArray(value.rows);
}

function extended(answer: TableAnswer, columns: readonly PluginColumn[]): TableAnswer {
  return {
    ...answer,
    columnDefinitions: answer.columnDefinitions && [...answer.columnDefinitions, ...columns.map(definitionOf)],
    rows: answer.rows.map((row) => ({
      ...row,
      cells: [...row.cells, ...columns.map(({ text }) => text(row.object))],
    })),
  };
}

function definitionOf({ title }: PluginColumn): Column {
  return { name: title, type: 'string', description: '', priority: 0 };
}
