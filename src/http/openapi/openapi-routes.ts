import { parseAccept, includesType } from '../body/accept-header.ts';
import { protobufType } from '../body/kubernetes-message.ts';
import { objectTypes } from '../body/read-object.ts';
import { refusal, type Answer } from '../answer.ts';
import { headerOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem } from '../problem.ts';
import type { PluginRoutes } from '../plugin-routes/plugin-routes.ts';
import { isTagKnown } from '../resources/conditional-requests.ts';
import { patchTypes } from '../resources/decode-write.ts';
import { ApiDocuments, type ApiDocumentsDependencies } from './api-documents.ts';
import type { ApiDocument } from './joined-document.ts';
import type { LazyValue } from './lazy-value.ts';

export type OpenApiDependencies = Pick<ApiDocumentsDependencies, 'registry' | 'clock' | 'domain' | 'version'> & {
  readonly pluginRoutes: Pick<PluginRoutes, 'revision' | 'described'>;
};

/** Creates the routes of the API documents. `platform` returns all fixed routes, including these routes. */
export function openApiRoutes(
  { pluginRoutes, ...dependencies }: OpenApiDependencies,
  platform: ApiDocumentsDependencies['platform'],
): readonly PlatformRoute[] {
  return documentRoutes(new ApiDocuments({ ...dependencies, platform, routes: pluginRoutesOf(pluginRoutes), media }));
}

function pluginRoutesOf(routes: OpenApiDependencies['pluginRoutes']): ApiDocumentsDependencies['routes'] {
  return { revision: () => routes.revision(), described: () => routes.described() };
}

/** The media types that the documents list. */
export const media = {
  object: objectTypes,
  message: [...objectTypes, protobufType],
  answer: objectTypes,
  patch: patchTypes,
};

function documentRoutes(documents: ApiDocuments): readonly PlatformRoute[] {
  const get = (path: string, route: PlatformRoute['route']): PlatformRoute => ({ method: 'GET', path, route });
  const group =
    (keyOf: (params: Readonly<Record<string, string>>) => string): PlatformRoute['route'] =>
    (params, exchange) =>
      withValue(documents.groups, ({ byKey }) => groupAnswer(exchange, byKey.get(keyOf(params))));
  return [
    get('/openapi/v2', (_params, exchange) =>
      withValue(wantsProtobuf(exchange) ? documents.swaggerProtobuf : documents.swagger, (document) =>
        documentAnswer(exchange, document),
      ),
    ),
    get('/openapi/v3', (_params, exchange) =>
      withValue(documents.groups, ({ index }) => documentAnswer(exchange, index)),
    ),
    get(
      '/openapi/v3/{root}',
      group(({ root = '' }) => root),
    ),
    get(
      '/openapi/v3/api/{version}',
      group(({ version = '' }) => `api/${version}`),
    ),
    get(
      '/openapi/v3/apis/{group}/{version}',
      group(({ group: name = '', version = '' }) => `apis/${name}/${version}`),
    ),
    get('/v3/api-docs', (_params, exchange) =>
      withValue(documents.everything, (document) => documentAnswer(exchange, document)),
    ),
  ];
}

function withValue<T>(value: LazyValue<T>, answer: (value: T) => Answer): Answer | Promise<Answer> {
  const current = value.current();
  return current === undefined ? value.get().then(answer) : answer(current);
}

const protobufName = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Returns whether the client prefers protobuf to JSON. Older clients write the media type with an `@`. */
function wantsProtobuf({ req }: Exchange): boolean {
  const header = headerOf(req, 'accept')?.replaceAll('spec.v2@v1.0', 'spec.v2.v1.0');
  const first = parseAccept(header).find(
    (range) => range.type === protobufName || includesType(range, 'application/json'),
  );
  return first?.type === protobufName;
}

function groupAnswer(exchange: Exchange, document: ApiDocument | undefined): Answer {
  if (document === undefined) return refusal(problem('not-found', 'the server could not find the requested resource'));
  return exchange.query.get('hash') === document.hash
    ? immutableAnswer(exchange, document)
    : documentAnswer(exchange, document);
}

function documentAnswer({ req }: Exchange, document: ApiDocument): Answer {
  const { bytes, hash, contentType } = document;
  const etag = `"${hash}"`;
  const headers = ['ETag', etag, 'Vary', 'Accept'];
  if (isTagKnown(req, etag)) return { kind: 'empty', status: 304, headers };
  return { kind: 'bytes', status: 200, bytes, headers, contentType };
}

/** Returns a response that clients may cache forever: the content at a URL with the document's hash never changes. */
function immutableAnswer({ req }: Exchange, { bytes, hash, contentType }: ApiDocument): Answer {
  const etag = `"${hash}"`;
  const headers = new Map([
    ['etag', etag],
    ['cache-control', 'private, max-age=31536000, immutable'],
  ]);
  if (isTagKnown(req, etag)) return { kind: 'custom', status: 304, bytes: undefined, headers };
  return {
    kind: 'custom',
    status: 200,
    bytes,
    headers: headers.set('content-type', contentType),
  };
}
