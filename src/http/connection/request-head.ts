import type { IncomingMessage } from 'node:http';

import type { AllowedHosts } from '../client/allowed-hosts.ts';
import { problem, type Problem } from '../problem.ts';

/** The problem in the head of a request, independent of the caller. */
export function headProblem(req: IncomingMessage, hosts: AllowedHosts): Problem | undefined {
  const malformed = malformedHead(req);
  if (malformed !== undefined) return problem('bad-request', malformed);
  if (!hosts.allows(req)) return problem('bad-request', 'this server does not serve the host that the request names');
  return expectsMore(req) ? problem('expectation-failed', 'the only supported expectation is 100-continue') : undefined;
}

/**
 * Whether a single-value header is repeated: Node silently uses the first one, while a proxy may have checked the last.
 */
function malformedHead({ rawHeaders, headers, httpVersion }: IncomingMessage): string | undefined {
  if (headers.host === undefined && httpVersion === '1.1') return 'a request must have a Host header';
  let [hosts, credentials] = [0, 0];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1;
  }
  if (hosts > 1) return 'a request must have one Host header';
  return credentials > 1 ? 'a request must have at most one Authorization header' : undefined;
}

/**
 * Whether the Expect header asks for something other than 100-continue (RFC 9110, 10.1.1), which Node handles itself.
 */
function expectsMore({ headers: { expect }, httpVersion }: IncomingMessage): boolean {
  return expect !== undefined && httpVersion === '1.1' && !/(?:^|\W)100-continue(?:$|\W)/iu.test(expect);
}
