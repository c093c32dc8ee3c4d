import type { Clock } from '../../base/clock.ts';
import { Slices } from '../../base/slices.ts';
import { inSlices, type Steps } from '../../base/steps.ts';
import {
  apiDocument,
  groupDocument,
  groupKeyOf,
  platformDocument,
  swaggerOf,
  type DocumentSettings,
} from '../../openapi/documents.ts';
import { KeptParts } from '../../openapi/kept-parts.ts';
import type { PlatformPath } from '../../openapi/platform/platform-operations.ts';
import type { DescribedRoute } from '../../openapi/route-operations.ts';
import { swaggerText } from '../../openapi/swagger-document.ts';
import type { MediaTypes } from '../../openapi/type-operations.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { joined, type ApiDocument } from './joined-document.ts';
import { LazyValue } from './lazy-value.ts';
import { SwaggerProtobuf } from './swagger-protobuf.ts';

export type ApiDocumentsDependencies = {
  readonly registry: TypeRegistry;
  /** The custom routes of plugins. `revision` increases with each change of the routes. */
  readonly routes: { readonly revision: () => number; readonly described: () => readonly DescribedRoute[] };
  readonly platform: () => readonly PlatformPath[];
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly domain: string;
  readonly version: string;
  readonly media: MediaTypes;
};

type Group = {
  readonly types: readonly ResourceType[];
  readonly document: ApiDocument;
};
type Groups = {
  readonly index: ApiDocument;
  readonly byKey: ReadonlyMap<string, ApiDocument>;
};

/** Kubernetes' media type for `openapi.v2.Document`. Go refuses the older name with `@` in a Content-Type. */
const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** The API documents. The first request after a change builds a document in slices, and the bytes are cached. */
export class ApiDocuments {
  readonly groups: LazyValue<Groups>;
  readonly swagger: LazyValue<ApiDocument>;
  readonly swaggerProtobuf: LazyValue<ApiDocument>;
  readonly everything: LazyValue<ApiDocument>;
  readonly #dependencies: ApiDocumentsDependencies;
  readonly #settings: DocumentSettings;
  readonly #protobuf = new SwaggerProtobuf();
  #typesRevision = 0;
  #groups: ReadonlyMap<string, Group> = new Map();

  constructor(dependencies: ApiDocumentsDependencies) {
    this.#dependencies = dependencies;
    this.#settings = { ...dependencies, kept: new KeptParts(dependencies) };
    dependencies.registry.subscribe(() => {
      this.#typesRevision += 1;
    });
    const ofTypes = (): number => this.#typesRevision;
    this.groups = new LazyValue(ofTypes, () => this.#buildGroups());
    this.swagger = new LazyValue(ofTypes, () =>
      this.#built(swaggerDocumentText(this.#served(), this.#settings), 'application/json'),
    );
    this.swaggerProtobuf = new LazyValue(ofTypes, () =>
      this.#built(swaggerDocumentProtobuf(this.#served(), this.#settings, this.#protobuf), protobufType),
    );
    const ofAll = (): number => this.#typesRevision + dependencies.routes.revision();
    this.everything = new LazyValue(ofAll, () => this.#buildEverything());
  }

  async #buildEverything(): Promise<ApiDocument> {
    const { routes, platform } = this.#dependencies;
    const all = {
      types: this.#served(),
      platform: platform(),
      routes: routes.described(),
    };
    return this.#built(apiDocument(all, this.#settings), 'application/json');
  }

  async #buildGroups(): Promise<Groups> {
    const served = new Map<string, ResourceType[]>();
    for (const type of this.#served()) {
      const key = groupKeyOf(type);
      const types = served.get(key);
      if (types === undefined) served.set(key, [type]);
      else types.push(type);
    }
    const groups = new Map<string, Group>();
    for (const [key, types] of served) {
      const known = this.#groups.get(key);
      const isSame = known?.types.length === types.length && types.every((type, index) => type === known.types[index]);
      groups.set(
        key,
        isSame ? known : { types, document: await this.#built(groupDocument(types, this.#settings), json) },
      );
    }
    for (const [key, paths] of this.#platformPaths()) {
      if (groups.has(key)) continue;
      const document =
        this.#groups.get(key)?.document ?? (await this.#built(platformDocument(paths, this.#settings), json));
      groups.set(key, { types: [], document });
    }
    this.#groups = groups;
    const byKey = new Map([...groups].map(([key, { document }]) => [key, document]));
    return { index: await this.#built(indexText(byKey), json), byKey };
  }

  /**
   * Returns the platform's paths by the key of their document. As in Kubernetes, the key is a group and version, or
   * `version`, `api` or `apis`. Other paths are left out.
   */
  #platformPaths(): ReadonlyMap<string, readonly PlatformPath[]> {
    const byKey = new Map<string, PlatformPath[]>();
    for (const path of this.#dependencies.platform()) {
      const key = platformKeyOf(path.pattern);
      if (key === undefined) continue;
      const paths = byKey.get(key);
      if (paths === undefined) byKey.set(key, [path]);
      else paths.push(path);
    }
    return byKey;
  }

  /** Sorts the types, so that documents do not depend on the order in which types start. */
  #served(): readonly ResourceType[] {
    return this.#dependencies.registry
      .versions()
      .filter(({ serving }) => serving)
      .map(({ type }) => type)
      .sort((left, right) => (sortKeyOf(left) < sortKeyOf(right) ? -1 : 1));
  }

  async #built(pieces: Steps<readonly Uint8Array[]>, contentType: string): Promise<ApiDocument> {
    return inSlices(joined(pieces, contentType), new Slices(this.#dependencies.clock));
  }
}

const json = 'application/json';

function* indexText(byKey: ReadonlyMap<string, ApiDocument>): Steps<readonly Uint8Array[]> {
  const entries: [string, object][] = [];
  for (const [key, { hash }] of byKey) {
    entries.push([key, { serverRelativeURL: `/openapi/v3/${key}?hash=${hash}` }]);
    yield;
  }
  return [Buffer.from(JSON.stringify({ paths: Object.fromEntries(entries) }))];
}

function platformKeyOf(pattern: string): string | undefined {
  if (pattern === '/version' || pattern === '/api' || pattern === '/apis') return pattern.slice(1);
  return /^\/(apis\/[a-z]+\.k8s\.io\/v\d+)\//u.exec(pattern)?.[1];
}

function sortKeyOf({ group, version, kind }: ResourceType): string {
  return `${group}\u0000${version}\u0000${kind}`;
}

function* swaggerDocumentText(
  types: readonly ResourceType[],
  settings: DocumentSettings,
): Steps<readonly Uint8Array[]> {
  return yield* swaggerText(yield* swaggerOf(types, settings), settings.kept);
}

function* swaggerDocumentProtobuf(
  types: readonly ResourceType[],
  settings: DocumentSettings,
  form: SwaggerProtobuf,
): Steps<readonly Uint8Array[]> {
  return yield* form.of(yield* swaggerOf(types, settings));
}
