import type { HookViolation } from 'ledgerplane/plugin';

/** Checks an address for problems that the schema cannot detect. Returns at most one problem. */
export function addressProblems(pointer: string, address: string): readonly HookViolation[] {
  const problem = problemOf(address);
  return problem === undefined ? [] : [{ pointer, detail: problem }];
}

function problemOf(address: string): string | undefined {
  if (!URL.canParse(address)) return 'must be a complete URL';
  const { protocol, username, password, pathname } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with http:// or https://';
  if (username !== '' || password !== '') return 'must not contain a user name or a password';
  if (pathname.startsWith('/apis/api.links.example.com/')) return 'must not lead to another link';
  return undefined;
}
