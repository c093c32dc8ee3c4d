import { adminAuthorization } from '../../support/server/start-server.ts';
import type { BadRequest } from './bad-request.ts';

export const widgets = '/apis/example.com/v1alpha1/widgets';
/** It exists. */
export const held = `${widgets}/held`;

type Head = {
  readonly method: string;
  readonly target: string;
  readonly headers?: readonly string[];
  readonly authorization?: string | undefined;
};

/** A head as bytes, with the super administrator's credentials unless `authorization` is given. */
export function head({ method, target, headers = [], ...given }: Head): Buffer {
  const authorization = 'authorization' in given ? given.authorization : adminAuthorization;
  const lines = [
    'Host: localhost',
    'Connection: close',
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...headers,
  ];
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

type Refused = Head & { readonly what: string; readonly statuses: BadRequest['statuses']; readonly body?: Uint8Array };

/** A request with a well-formed head that must be answered with one of `statuses`. */
export function refused({ what, statuses, body, ...asked }: Refused): BadRequest {
  const headers =
    body === undefined ? (asked.headers ?? []) : [...(asked.headers ?? []), `Content-Length: ${String(body.length)}`];
  return {
    what,
    statuses,
    ending: 'none',
    chunks: [head({ ...asked, headers }), ...(body === undefined ? [] : [body])],
  };
}
