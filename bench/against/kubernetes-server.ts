import type { Fetch } from '../../src/client/requests.ts';
import { httpsFetch } from '../../src/client/node/https-fetch.ts';
import type { Target } from '../load/socket.ts';
import type { RequestTemplate } from '../load/template.ts';
import { definitionOf, measuredLabel } from './measured-object.ts';
import { decodeResourcePath, type ServedResource } from './served-resource.ts';

export type ServerAddress = Target & {
  /** The value of the Authorization header. */
  readonly authorization: string;
  /** The path of the collection. */
  readonly path: string;
};

export type ListedPage = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly ListedObject[];
};

export type ListedObject = {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: { readonly title: string; readonly size: number };
};

/** The server does not have the type of the measured objects. */
export class TypeMissingError extends Error {
  readonly definition: string;

  constructor(url: string, resource: ServedResource) {
    super(`${url} does not serve ${resource.plural}.${resource.group}: apply the definition, and run this again`);
    this.definition = definitionOf(resource);
  }
}

const pageSize = 500;
const removalsMax = 100;

/**
 * A server with the Kubernetes API: one of its collections, the requests of the load, and the checks of the results.
 */
export class KubernetesServer {
  readonly target: Target;
  readonly path: string;
  readonly resource: ServedResource;
  readonly headers: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;

  constructor({ url, ca, authorization, path }: ServerAddress) {
    this.target = { url, ca };
    this.path = path;
    this.resource = decodeResourcePath(path);
    this.headers = { Host: new URL(url).host, Authorization: authorization, Accept: 'application/json' };
    this.#fetch = url.startsWith('https:') ? httpsFetch({ ca }) : fetch;
  }

  /** Returns the body of a response. Throws for a status of 400 or more. */
  async send(method: string, path: string): Promise<string> {
    const response = await this.#fetch(this.target.url + path, { method, headers: this.headers });
    const text = await response.text();
    if (response.status >= 400)
      throw new Error(
        `${method} ${this.target.url}${path} returned the status ${response.status.toString()}: ${text.slice(0, 500)}`,
      );
    return text;
  }

  /**
   * @throws TypeMissingError if the server does not serve the resource.
   * @throws Error if the collection already has objects, because the bench counts and lists the whole collection.
   */
  async check(): Promise<void> {
    const response = await this.#fetch(`${this.target.url}${this.path}?limit=1`, {
      method: 'GET',
      headers: this.headers,
    });
    if (response.status === 404) {
      await response.text();
      throw new TypeMissingError(this.target.url, this.resource);
    }
    const text = await response.text();
    if (response.status !== 200)
      throw new Error(`${this.target.url} returned the status ${response.status.toString()}: ${text.slice(0, 500)}`);
    if ((JSON.parse(text) as ListedPage).items.length > 0)
      throw new Error(`the collection ${this.path} of ${this.target.url} has objects: the bench needs an empty one`);
  }

  async list(query: string): Promise<ListedPage> {
    return JSON.parse(await this.send('GET', `${this.path}?${query}`)) as ListedPage;
  }

  /** Returns the number of objects in the collection, which is read page by page. */
  async count(): Promise<number> {
    let counted = 0;
    for (let token: string | undefined = ''; token !== undefined;) {
      const { items, metadata } = await this.list(`limit=${pageSize.toString()}&continue=${encodeURIComponent(token)}`);
      counted += items.length;
      token = metadata.continue === '' ? undefined : metadata.continue;
    }
    return counted;
  }

  /** Deletes the objects of the bench. A server limits the time of each request, so several requests may be needed. */
  async removeAll(): Promise<void> {
    const selected = `labelSelector=${measuredLabel}`;
    let failure: unknown;
    for (let request = 0; request < removalsMax; request += 1) {
      if ((await this.list(`${selected}&limit=1`)).items.length === 0) return;
      try {
        await this.send('DELETE', `${this.path}?${selected}`);
      } catch (error) {
        failure = error;
      }
    }
    throw new Error(`objects of the bench are left in ${this.path}`, { cause: failure });
  }

  request(method: RequestTemplate['method'], name: string, body?: string): RequestTemplate {
    const path = name === '' ? this.path : `${this.path}/${name}`;
    return { method, path, headers: this.headers, ...(body === undefined ? {} : { body }) };
  }
}
