import { ClientError } from 'ledgerplane/client';

/** Returns the details of the problems with values that the server has refused, by JSON pointer; the first of each place. */
export function problemsByPointer(error: unknown): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  if (error instanceof ClientError)
    for (const { pointer, detail } of error.errors) if (!problems.has(pointer)) problems.set(pointer, detail);
  return problems;
}
