import type { ObjectMetadata, RemoteClient, RequestOptions } from 'ledgerplane/client';

import { apiPath, type ServedType } from '../../../server/served-types.ts';

export type Cell = string | number | boolean | null;

export type Column = {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  /** Columns with the priority 0 are shown by default. */
  readonly priority: number;
};

/** Returns whether a column contains numbers, which are right-aligned. */
export function isNumeric({ type }: Column): boolean {
  return type === 'integer' || type === 'number';
}

export type Row = {
  readonly cells: readonly Cell[];
  readonly object: { readonly metadata: ObjectMetadata };
};

/** A page of a list, or the row of a change, in Kubernetes' form `Table`. */
export type TableAnswer = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly total?: number;
  /** Null in every event of a watch except the first. */
  readonly columnDefinitions: readonly Column[] | null;
  readonly rows: readonly Row[];
};

/** The objects that a table shows, and their order. Undefined members select nothing. */
export type TableQuery = {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** `<field>,asc` or `<field>,desc`. */
  readonly sort?: string | undefined;
};

export const tableForm = 'application/json;as=Table;g=meta.k8s.io;v=v1';

/** Reads up to `size` rows from row `page * size` on. */
export async function readRows(
  client: RemoteClient,
  type: ServedType,
  { page, size, signal, ...query }: TableQuery & { readonly page: number; readonly size: number; signal: AbortSignal },
): Promise<TableAnswer> {
  return read(client, type, { query: { ...query, page: page + 1, size }, signal });
}

/** Reads a page of a chain: the first page, or the page of a token. */
export async function readChain(
  client: RemoteClient,
  type: ServedType,
  {
    signal,
    ...query
  }: TableQuery & { readonly limit: number; readonly continue: string | undefined; readonly signal: AbortSignal },
): Promise<TableAnswer> {
  return read(client, type, { query, signal });
}

async function read(
  client: RemoteClient,
  type: ServedType,
  { query, signal }: { readonly query: NonNullable<RequestOptions['query']>; readonly signal: AbortSignal },
): Promise<TableAnswer> {
  const answer = await client.request<TableAnswer>(apiPath(type), { query, accept: tableForm, signal });
  if (answer === undefined) throw new Error('the server has sent no table');
  return answer;
}
