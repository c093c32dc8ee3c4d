import { isObject } from '../../base/guards.ts';
import { compileValueSchema } from '../../resource/schema/schema.ts';
import type { ResponseEndpoint, RouteEndpoint, ValueSchema } from '../api/endpoints.ts';
import type { RouteMethod } from '../api/plugin.ts';
import { unknownMembers } from './unknown-members.ts';

export type RouteSchemas = Pick<RouteEndpoint, 'query' | 'body' | 'responses'>;

type Findings = {
  readonly at: string;
  readonly method: RouteMethod;
  readonly problems: string[];
};

/** Compiles the schemas of a route's requests and responses. Adds the problems of invalid schemas to `problems`. */
export function decodeRouteSchemas(
  { request, responses }: Readonly<Record<string, unknown>>,
  { at, method, problems }: Findings,
): RouteSchemas {
  return {
    ...decodeRequest(request, { at: `${at}.request`, method, problems }),
    ...decodeResponses(responses, { at: `${at}.responses`, method, problems }),
  };
}

const requestMembers = new Set(['query', 'body']);

function decodeRequest(request: unknown, { at, method, problems }: Findings): Pick<RouteSchemas, 'query' | 'body'> {
  if (request === undefined) return {};
  if (!isObject(request)) {
    problems.push(`${at}: must be an object`);
    return {};
  }
  problems.push(...unknownMembers(request, requestMembers, at));
  const query = decodeQuery(request['query'], { at: `${at}.query`, method, problems });
  if (request['body'] !== undefined && method === 'GET')
    problems.push(`${at}.body: must be omitted: a GET has no body`);
  const body = request['body'] === undefined ? undefined : compiled(request['body'], `${at}.body`, problems);
  return { ...(query === undefined ? {} : { query }), ...(body === undefined ? {} : { body }) };
}

function decodeQuery(query: unknown, { at, problems }: Findings): ReadonlyMap<string, ValueSchema> | undefined {
  if (query === undefined) return undefined;
  if (!isObject(query)) {
    problems.push(`${at}: must be an object with one schema for each parameter`);
    return undefined;
  }
  const schemas = new Map<string, ValueSchema>();
  for (const [parameter, input] of Object.entries(query)) {
    const schema = compiled(input, `${at}.${parameter}`, problems);
    const type = schema?.schema['type'];
    // A parameter is a string, or an array of strings. A schema of another type would refuse every value.
    if (type !== undefined && type !== 'string' && type !== 'array')
      problems.push(`${at}.${parameter}.type: must be "string", or "array" for a parameter that may be repeated`);
    if (schema !== undefined) schemas.set(parameter, schema);
  }
  return schemas;
}

const responseMembers = new Set(['description', 'schema']);

function decodeResponses(responses: unknown, { at, problems }: Findings): Pick<RouteSchemas, 'responses'> {
  if (responses === undefined) return {};
  if (!isObject(responses)) {
    problems.push(`${at}: must be an object with one response for each status`);
    return {};
  }
  const decoded = new Map<number, ResponseEndpoint>();
  for (const [status, response] of Object.entries(responses)) {
    const place = `${at}.${status}`;
    if (!/^[2-5][0-9]{2}$/u.test(status)) problems.push(`${place}: must be a status of 200 to 599`);
    const endpoint = decodeResponse(response, place, problems);
    if (endpoint !== undefined) decoded.set(Number(status), endpoint);
  }
  return { responses: decoded };
}

function decodeResponse(response: unknown, at: string, problems: string[]): ResponseEndpoint | undefined {
  if (!isObject(response)) {
    problems.push(`${at}: must be an object`);
    return undefined;
  }
  const { description } = response;
  problems.push(...unknownMembers(response, responseMembers, at));
  if (description !== undefined && typeof description !== 'string')
    problems.push(`${at}.description: must be a string`);
  const schema = response['schema'] === undefined ? undefined : compiled(response['schema'], `${at}.schema`, problems);
  return { ...(typeof description === 'string' ? { description } : {}), ...(schema === undefined ? {} : { schema }) };
}

function compiled(input: unknown, at: string, problems: string[]): ValueSchema | undefined {
  const result = compileValueSchema(input);
  if (result.ok) return { schema: result.schema, violations: result.violations };
  problems.push(...result.problems.map((problem) => `${at}: ${problem}`));
  return undefined;
}
