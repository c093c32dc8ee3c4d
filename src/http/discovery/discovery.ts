import { createHash } from 'node:crypto';

import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import { refusal, type Answer } from '../answer.ts';
import { parseAccept } from '../body/accept-header.ts';
import type { Exchange } from '../exchange.ts';
import { problem } from '../problem.ts';
import { isTagKnown } from '../resources/conditional-requests.ts';
import {
  formOf,
  groupDiscoveryList,
  mediaTypeOf,
  type AggregatedVersion,
  type DiscoveryForm,
} from './aggregated-documents.ts';
import { catalogOf, type ApiGroup, type ApiResource } from './api-catalog.ts';
import { coreVersions, groupDocument, groupList, resourceList, type DiscoveryDocument } from './plain-documents.ts';

type Document = {
  readonly bytes: Buffer;
  readonly headers: readonly string[];
  readonly etag: string;
};

/** The documents of one path. A path has all forms, or only the plain form. */
type Documents = Partial<Readonly<Record<DiscoveryForm, Document>>>;

/**
 * Serves `/api`, `/apis` and the documents below, as bytes with entity tags. Builds the documents on the first request
 * after a change of the registry, because many types change while plugins start.
 */
export class Discovery {
  readonly #registry: TypeRegistry;
  readonly #others: readonly ApiResource[];
  #documents: ReadonlyMap<string, Documents> | undefined;

  /** `others` are resources that are served in addition to the registered types. */
  constructor(registry: TypeRegistry, others: readonly ApiResource[]) {
    this.#registry = registry;
    this.#others = others;
    registry.subscribe(() => {
      this.#documents = undefined;
    });
  }

  /** Returns whether a document exists at the path. The segments of the path must be decoded. */
  has(path: string): boolean {
    return this.#current().has(path);
  }

  answer({ req, info }: Pick<Exchange, 'req' | 'info'>): Answer {
    const documents = this.#current().get(info.path);
    const negotiated = documents?.v2 === undefined ? 'plain' : formOf(parseAccept(req.headers.accept));
    const document = documents?.[negotiated];
    if (document === undefined)
      return refusal(problem('not-found', 'the server could not find the requested resource'));
    const { bytes, headers, etag } = document;
    if (isTagKnown(req, etag)) return { kind: 'empty', status: 304, headers };
    return { kind: 'bytes', status: 200, bytes, headers, contentType: mediaTypeOf(negotiated) };
  }

  #current(): ReadonlyMap<string, Documents> {
    this.#documents ??= documentsOf(this.#registry, this.#others);
    return this.#documents;
  }
}

function documentsOf(registry: TypeRegistry, others: readonly ApiResource[]): ReadonlyMap<string, Documents> {
  const catalog = catalogOf(registry, others);
  const core = catalog.find(({ group }) => group === '') ?? { group: '', versions: [] };
  const named = catalog.filter(({ group }) => group !== '');
  const documents = new Map<string, Documents>();
  const plain = (path: string, document: DiscoveryDocument): void => {
    documents.set(path, { plain: documentOf(document) });
  };
  for (const version of core.versions) {
    const list = resourceList('', version);
    plain(`/api/${version.version}`, list);
    // Go clients search for versions of the core group other than v1 below `/apis`. No group has the name of a version.
    plain(`/apis/${version.version}`, list);
  }
  for (const group of named) {
    plain(`/apis/${group.group}`, groupDocument(group));
    for (const version of group.versions)
      plain(`/apis/${group.group}/${version.version}`, resourceList(group.group, version));
  }
  const root = (path: string, document: DiscoveryDocument, groups: readonly ApiGroup[]): void => {
    const aggregated = (form: AggregatedVersion): Document => documentOf(groupDiscoveryList(form, groups));
    documents.set(path, {
      plain: documentOf(document),
      v2: aggregated('v2'),
      v2beta1: aggregated('v2beta1'),
    });
  };
  root('/api', coreVersions(core), [withLists(core)]);
  root('/apis', groupList(named), named);
  return documents;
}

/** The version of `List`, Kubernetes' kind for the files that `kubectl get -o yaml` writes. */
const listVersion = 'v1';

/**
 * Adds `listVersion` without resources to the core group of the aggregated form. Otherwise kubectl would refuse files
 * of the kind `List`. Clients of the plain form treat a version without resources as an error.
 */
function withLists({ group, versions }: ApiGroup): ApiGroup {
  if (versions.some(({ version }) => version === listVersion)) return { group, versions };
  return { group, versions: [...versions, { version: listVersion, resources: [] }] };
}

/** Encodes a document. The entity tag depends only on the content, so it is the same on all nodes. */
function documentOf(document: DiscoveryDocument): Document {
  const bytes = Buffer.from(JSON.stringify(document));
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return { bytes, etag, headers: ['ETag', etag, 'Vary', 'Accept'] };
}
