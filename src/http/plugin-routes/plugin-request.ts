import { withoutBearer } from '../connection/bearer-subprotocol.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cause } from '../../command/event.ts';
import { actorOf, type Subject } from '../../command/subject.ts';
import type { RouteEndpoint } from '../../plugin/api/endpoints.ts';
import type { Client, PluginLogger, RouteRequest } from '../../plugin/api/plugin.ts';
import type { Violation } from '../../resource/type/resource-type.ts';
import { refusal, takenOver, type Answer } from '../answer.ts';
import { causeOf, type Exchange } from '../exchange.ts';
import { problem } from '../problem.ts';
import { decodeBody, mediaTypeOf, readBody } from '../body/read-body.ts';
import { escapeToken } from '../../base/reference-token.ts';

/** The caller of a plugin's route or socket. The plugin's clients send requests on behalf of the caller. */
export type Caller = {
  readonly subject: Subject;
  /** The cause of the request, which the client's writes record. No plugin can change the cause. */
  readonly cause: Cause;
  /** Returns whether the request was answered or abandoned, or its stream has ended. */
  readonly isOver: () => boolean;
};

type RequestClients = {
  readonly client: Client;
  readonly pluginClient: Client;
};

export type CallPorts = {
  readonly clock: Clock;
  readonly log: PluginLogger;
  readonly loggerOf: (plugin: string) => PluginLogger;
  /**
   * Returns clients of the generated API in this process: `client` has the caller's rights, `pluginClient` the
   * plugin's.
   */
  readonly clientsOf: (plugin: string, caller: Caller) => RequestClients;
};

type CallParts = Pick<RouteRequest, 'params' | 'body' | 'signal'> & {
  readonly plugin: string;
  /** The schemas of the query parameters. A parameter with the schema of an array is an array in the request. */
  readonly schemas?: RouteEndpoint['query'] | undefined;
};

export function routeRequest(
  exchange: Exchange,
  { plugin, schemas, ...parts }: CallParts,
  { clock, loggerOf, clientsOf }: CallPorts,
): RouteRequest {
  return {
    ...parts,
    ...clientsOf(plugin, {
      subject: exchange.subject,
      cause: causeOf(exchange),
      isOver: () => parts.signal.aborted,
    }),
    query: queryOf(exchange.query, schemas),
    headers: headersOf(exchange),
    user: { name: actorOf(exchange.subject) },
    time: new Date(clock.now()).toISOString(),
    log: loggerOf(plugin),
  };
}

type CheckedRequest = { readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly answer: Answer };

/** Checks the body and the query against the route's schemas. */
export async function requestOf(
  exchange: Exchange,
  { query, body: bodySchema }: Pick<RouteEndpoint, 'query' | 'body'>,
): Promise<CheckedRequest> {
  const body = await bodyOf(exchange);
  if (!body.ok) return body;
  const parameters = query === undefined ? [] : queryViolations(exchange.query, query);
  if (parameters.length > 0) return refused('bad-request', 'the query parameters do not match the schema', parameters);
  if (bodySchema === undefined) return body;
  const violations =
    body.body === undefined
      ? [{ pointer: '', detail: 'a request body is required' }]
      : bodySchema.violations(body.body);
  return violations.length === 0 ? body : refused('invalid', 'the body does not match the schema', violations);
}

function refused(reason: 'bad-request' | 'invalid', what: string, violations: readonly Violation[]): CheckedRequest {
  const [first] = violations;
  const detail =
    first === undefined ? what : `${what}: ${first.pointer === '' ? '' : `${first.pointer} `}${first.detail}`;
  return { ok: false, answer: refusal(problem(reason, detail, { violations })) };
}

/** Checks the parameters as strings. A parameter may be repeated if its schema is that of an array. */
function queryViolations(query: URLSearchParams, schemas: NonNullable<RouteEndpoint['query']>): readonly Violation[] {
  return [...schemas].flatMap(([parameter, { schema, violations }]) => {
    const given = query.getAll(parameter);
    if (given.length === 0) return [];
    const place = `/${escapeToken(parameter)}`;
    const value = schema['type'] === 'array' || given.length > 1 ? given : given[0];
    return violations(value).map(({ pointer, detail }) => ({ pointer: place + pointer, detail }));
  });
}

/** The media types of a PATCH body. The body is a merge patch, even as `application/json`. */
const patchTypes = ['application/merge-patch+json', 'application/json'];

/** Decodes the JSON of the body. Without a body, the result is undefined, and any media type is accepted. */
async function bodyOf(exchange: Exchange): Promise<CheckedRequest> {
  const { req, method } = exchange;
  const media = mediaTypeOf(req, method === 'PATCH' ? patchTypes : ['application/json']);
  const body = await readBody(exchange);
  if (!body.ok) return { ok: false, answer: body.problem === undefined ? takenOver : refusal(body.problem) };
  if (body.value.length === 0) return { ok: true, body: undefined };
  if (!media.ok) return { ok: false, answer: refusal(media.problem) };
  const json = decodeBody(body.value, exchange);
  if (json.ok) return { ok: true, body: json.value };
  return { ok: false, answer: json.problem === undefined ? takenOver : refusal(json.problem) };
}

function queryOf(query: URLSearchParams, schemas: RouteEndpoint['query']): RouteRequest['query'] {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const [first = '', ...more] = query.getAll(name);
      const isList = more.length > 0 || schemas?.get(name)?.schema['type'] === 'array';
      return [name, isList ? [first, ...more] : first];
    }),
  );
}

/** Returns the headers without credentials. A plugin acts through its clients, and needs no credentials. */
function headersOf({ req }: Exchange): RouteRequest['headers'] {
  const { authorization: _authorization, cookie: _cookie, ...headers } = withoutBearer(req.headers);
  return headers;
}
