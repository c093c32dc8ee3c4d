import type { Problem } from '../problem.ts';

const consolePath = '/console/';

/** A log-in at the identity provider that has failed in a browser. */
export type FailedLogIn = {
  readonly refused: Problem;
  /** Whether the redirect from the provider names an error, for example because the user has cancelled. */
  readonly isDenied: boolean;
  /** The path to which the log-in would have returned; undefined if it is not known. */
  readonly returnPath: string | undefined;
  readonly requestId: string;
};

/**
 * Returns the address of the console's log-in page, which shows the reason and offers another log-in. Returns undefined
 * if another page than the console began the log-in. The address contains a code of the reason and no text: anybody can
 * make such an address, so the page must not show text from it.
 */
export function consoleLogInPath(failed: FailedLogIn): string | undefined {
  const { returnPath, requestId } = failed;
  if (returnPath !== undefined && returnPath !== '/' && !returnPath.startsWith(consolePath)) return undefined;
  const to = returnPath === undefined || returnPath === '/' ? '/' : returnPath.slice(consolePath.length - 1);
  const query = new URLSearchParams({ to, problem: codeOf(failed), request: requestId });
  return `${consolePath}login?${query.toString()}`;
}

function codeOf({ refused, isDenied }: FailedLogIn): string {
  switch (refused.reason) {
    case 'bad-request':
      return 'expired';
    case 'unauthorized':
      return isDenied ? 'denied' : 'refused';
    case 'unavailable':
      return 'unavailable';
    case 'too-many-requests':
      return 'busy';
    default:
      return 'failed';
  }
}
