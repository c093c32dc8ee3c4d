import { ClientError } from '../client.ts';
import type { ObjectMetadata } from '../object.ts';
import type { RouteRequest, RouteResponse } from '../route.ts';
import { valuesOf } from './parameters.ts';

type Versioned = { readonly metadata: Pick<ObjectMetadata, 'version'> };

/** Returns a response with the object and an `ETag`, which clients can send in `If-Match` of a later request. */
export function objectResponse(body: Versioned): RouteResponse {
  return { headers: { etag: etagOf(body) }, body };
}

/**
 * Checks the header `If-Match` (RFC 9110, 13.1.1) of a request that changes `found`. Accepts a missing header.
 *
 * @throws 412 if the header contains neither the object's `ETag` nor `*`.
 */
export function checkIfMatch({ headers }: Pick<RouteRequest, 'headers'>, found: Versioned): void {
  if (headers['if-match'] === undefined) return;
  const matching = valuesOf(headers['if-match'])
    .join()
    .split(',')
    .map((etag) => etag.trim());
  if (matching.includes('*') || matching.includes(etagOf(found))) return;
  throw new ClientError(`If-Match does not contain the current version, ${etagOf(found)}`, {
    reason: 'PreconditionFailed',
    status: 412,
  });
}

function etagOf({ metadata }: Versioned): string {
  return `"${String(metadata.version)}"`;
}
