import { ClientError } from 'ledgerplane/client';

/** Returns the first problem of each value that the server has refused, by the JSON pointer of the value. */
export function problemsByPointer(error: unknown): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  if (error instanceof ClientError)
    for (const { pointer, detail } of error.errors) if (!problems.has(pointer)) problems.set(pointer, detail);
  return problems;
}
