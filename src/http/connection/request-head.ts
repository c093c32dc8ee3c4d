import type { IncomingMessage } from 'node:http';

import type { AllowedHosts } from '../client/allowed-hosts.ts';
import { problem, type Problem } from '../problem.ts';

/** Returns the problem in the head of a request; undefined if the head is valid. */
export function headProblem(req: IncomingMessage, hosts: AllowedHosts): Problem | undefined {
  const malformed = malformedHead(req);
  if (malformed !== undefined) return problem('bad-request', malformed);
  if (!hosts.allows(req)) return problem('bad-request', 'the request names a host that this server does not serve');
  return expectsMore(req) ? problem('expectation-failed', 'the only supported expectation is 100-continue') : undefined;
}

/**
 * Returns the problem of the Host and Authorization headers. Repeated headers are refused: Node uses the first value,
 * but a proxy may have checked the last one.
 */
function malformedHead({ rawHeaders, headers, httpVersion }: IncomingMessage): string | undefined {
  if (headers.host === undefined && httpVersion === '1.1') return 'a request must have a Host header';
  let [hosts, credentials] = [0, 0];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1;
  }
  if (hosts > 1) return 'a request must not have more than one Host header';
  return credentials > 1 ? 'a request must have at most one Authorization header' : undefined;
}

/** Returns whether an HTTP/1.1 request has an Expect header without 100-continue (RFC 9110, 10.1.1). */
function expectsMore({ headers: { expect }, httpVersion }: IncomingMessage): boolean {
  return expect !== undefined && httpVersion === '1.1' && !/(?:^|\W)100-continue(?:$|\W)/iu.test(expect);
}
