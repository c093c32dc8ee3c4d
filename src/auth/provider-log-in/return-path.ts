import { returnPathLengthMax } from '../../limits/access.ts';

/**
 * Checks the path to which a browser returns after a log-in. Returns undefined for a valid path, otherwise the problem
 * as a clause that follows the name of the parameter. Only a path of the same origin is valid, so that a link to the
 * log-in cannot send a user to another site. A browser treats `//host`, and `\` in place of `/`, as another host.
 */
export function returnPathProblem(path: string): string | undefined {
  if (path.length > returnPathLengthMax) return `must have at most ${String(returnPathLengthMax)} characters`;
  return /^\/(?!\/)[!-[\]-~]*$/u.test(path)
    ? undefined
    : 'must be a path of this server: "/", not followed by another "/", then printable ASCII characters without "\\"';
}
