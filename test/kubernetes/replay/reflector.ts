import { gadgetVersion, type KubernetesObject } from '../../support/kubernetes/gadgets.ts';
import type { ClientRequests, EventStream, ObjectList, Received, WatchEvent } from './client-requests.ts';

/** What a reflector asks for, and what it takes: objects of another kind are an error. */
export type ReflectedForm = {
  readonly accepts: { readonly list: string; readonly watch: string };
  readonly apiVersion: string;
  readonly kind: string;
  /** Parameters of each watch, beside those of the reflector. */
  readonly watch: Readonly<Record<string, string>>;
};

/** Whole gadgets, as `accept` names them. */
export function gadgetForm(accept = 'application/json'): ReflectedForm {
  return { accepts: { list: accept, watch: accept }, apiVersion: gadgetVersion, kind: 'Gadget', watch: {} };
}

/**
 * The requests and the decisions of client-go's Reflector (tools/cache/reflector.go and tools/pager/pager.go at commit
 * 32ce75a7d6bc of July 2026, which becomes v0.37), in both of its forms. What it would log as an error fails here.
 */
export class Reflector {
  readonly store = new Map<string, KubernetesObject>();
  /** The queries it has sent. */
  readonly requests: string[] = [];
  /** The position of the last event, list or bookmark. */
  lastVersion = '';
  readonly #client: ClientRequests;
  readonly #path: string;
  readonly #form: ReflectedForm;
  #isVersionUnavailable = false;

  constructor(client: ClientRequests, path: string, form = gadgetForm()) {
    this.#client = client;
    this.#path = path;
    this.#form = form;
  }

  /** Lists: at first in pages of 500 from any state, later as one; without a position where the last has expired. */
  async list(): Promise<void> {
    const version = this.#relistVersion();
    const limit = version === '' || version === '0' ? { limit: '500' } : {};
    let page = await this.#page({ ...limit, ...(version === '' ? {} : { resourceVersion: version }) });
    if (page.status === 410 || page.status === 504) {
      checkUnavailable(page);
      this.#isVersionUnavailable = true;
      page = await this.#page({ limit: '500' });
    }
    const objects: KubernetesObject[] = [];
    let { metadata } = page.body;
    for (;;) {
      if (page.status !== 200) throw new Error(`the list was answered with ${String(page.status)}`);
      if (page.body.apiVersion !== this.#form.apiVersion || page.body.kind !== `${this.#form.kind}List`)
        throw new Error('not a list');
      objects.push(...page.body.items);
      metadata = page.body.metadata;
      if (metadata.continue === undefined || metadata.continue === '') break;
      page = await this.#page({ limit: '500', continue: metadata.continue });
    }
    this.#replace(objects, metadata.resourceVersion);
  }

  async openWatch(): Promise<EventStream> {
    return this.#watch({ allowWatchBookmarks: 'true', resourceVersion: this.lastVersion, timeoutSeconds: '437' });
  }

  /** Follows a watch until it has seen `enough`, or until it ends or expires. */
  async follow(stream: EventStream, enough: () => boolean): Promise<'enough' | 'ended' | 'expired'> {
    while (!enough()) {
      const event = await stream.next();
      if (event === undefined) return 'ended';
      if (event.type === 'ERROR') {
        checkExpired(event.object);
        return 'expired';
      }
      this.#apply(event, this.store);
      this.#setVersion(event.object.metadata.resourceVersion);
    }
    return 'enough';
  }

  /** The streaming form: state and changes on one watch, which it answers past the initial part. */
  async watchList(): Promise<EventStream> {
    for (;;) {
      const version = this.#isVersionUnavailable ? '' : this.lastVersion;
      const stream = await this.#watch({
        allowWatchBookmarks: 'true',
        ...(version === '' ? {} : { resourceVersion: version }),
        resourceVersionMatch: 'NotOlderThan',
        sendInitialEvents: 'true',
        timeoutSeconds: '437',
      });
      const initial = new Map<string, KubernetesObject>();
      const end = await this.#initialEnd(stream, initial);
      if (end === undefined) continue;
      this.#replace([...initial.values()], end);
      return stream;
    }
  }

  /** The position at which the initial events end. Undefined when the known position has expired. */
  async #initialEnd(stream: EventStream, initial: Map<string, KubernetesObject>): Promise<string | undefined> {
    for (;;) {
      const event = await stream.next();
      if (event === undefined) throw new Error('the watch ended before its initial events did');
      if (event.type === 'ERROR') {
        checkExpired(event.object);
        this.#isVersionUnavailable = true;
        return undefined;
      }
      this.#apply(event, initial);
      const { annotations, resourceVersion } = event.object.metadata;
      if (event.type === 'BOOKMARK' && annotations?.['k8s.io/initial-events-end'] === 'true') return resourceVersion;
    }
  }

  #apply({ type, object }: WatchEvent, store: Map<string, KubernetesObject>): void {
    // An object of another kind is skipped, bookmarks included.
    if (object.apiVersion !== this.#form.apiVersion || object.kind !== this.#form.kind)
      throw new Error(`an event of another type: ${JSON.stringify(object)}`);
    const name = object.metadata.name ?? '';
    if (type === 'ADDED' || type === 'MODIFIED') store.set(name, object);
    else if (type === 'DELETED') store.delete(name);
    else if (type !== 'BOOKMARK') throw new Error(`an unknown event: ${type}`);
  }

  #relistVersion(): string {
    if (this.#isVersionUnavailable) return '';
    return this.lastVersion === '' ? '0' : this.lastVersion;
  }

  #replace(objects: readonly KubernetesObject[], version: string): void {
    this.store.clear();
    for (const object of objects) this.store.set(object.metadata.name ?? '', object);
    if (this.#isVersionUnavailable) this.lastVersion = '';
    this.#isVersionUnavailable = false;
    this.#setVersion(version);
  }

  /** Decimal, above 0, without a leading zero, and never back: client-go compares them since v0.35. */
  #setVersion(version: string | undefined): void {
    if (version === undefined || !/^[1-9]\d*$/u.test(version)) throw new Error(`no position: ${String(version)}`);
    if (this.lastVersion !== '' && BigInt(version) < BigInt(this.lastVersion))
      throw new Error(`the position goes back from ${this.lastVersion} to ${version}`);
    this.lastVersion = version;
  }

  async #page(parameters: Readonly<Record<string, string>>): Promise<Received<ObjectList>> {
    return this.#client.send('GET', this.#target(parameters), { headers: { accept: this.#form.accepts.list } });
  }

  async #watch(parameters: Readonly<Record<string, string>>): Promise<EventStream> {
    const { accepts, watch } = this.#form;
    return this.#client.watch(this.#target({ ...parameters, ...watch, watch: 'true' }), { accept: accepts.watch });
  }

  /** The parameters in the order of their names, as Go encodes them. */
  #target(parameters: Readonly<Record<string, string>>): string {
    const query = new URLSearchParams(parameters);
    query.sort();
    this.requests.push(query.toString());
    return `${this.#path}?${query.toString()}`;
  }
}

/** A position that is too old, or too new. For the latter client-go first asks ten times more, a second apart. */
function checkUnavailable({ status, body }: Received<object>): void {
  if (status === 410) {
    checkExpired(body);
    return;
  }
  const { causes = [] } =
    (body as { readonly details?: { readonly causes?: readonly { readonly reason: string }[] } }).details ?? {};
  if (!causes.some(({ reason }) => reason === 'ResourceVersionTooLarge'))
    throw new Error(`not a position that is too new: ${JSON.stringify(body)}`);
}

function checkExpired(status: { readonly kind?: string; readonly code?: number; readonly reason?: string }): void {
  if (status.kind !== 'Status' || status.code !== 410 || !['Expired', 'Gone'].includes(status.reason ?? ''))
    throw new Error(`not an expiry: ${JSON.stringify(status)}`);
}
