import type { AlternatingClient, Reply } from './alternating-client.ts';

export const widgetsPath = '/apis/example.com/v1alpha1/widgets';

/** What one service would have stored. */
type Known = {
  readonly version: number;
  readonly resourceVersion: string;
  readonly uid: string;
  readonly title: string;
  readonly size: number;
  readonly serial: string | undefined;
};

type Item = {
  readonly metadata: {
    readonly name: string;
    readonly version: number;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly title: string; readonly serial?: string };
};

type Slot =
  /** `last` is the stream's last revision; -1 where there never was one. */
  { readonly state: 'absent'; readonly last: number } | { readonly state: 'live'; readonly known: Known };

type Written = { readonly title: string; readonly size: number; readonly serial: string | undefined };

/**
 * Widgets as one service would store them, and each operation with its expected answer. Every write has a unique title,
 * so that stored writes are distinguishable from attempts.
 */
export class WidgetModel {
  readonly #client: AlternatingClient;
  readonly #slots = new Map<string, Slot>();
  readonly #titles = new Map<string, Set<string>>();
  /** Titles of writes that were acknowledged, and of all that were sent. */
  readonly acknowledged = new Set<string>();
  readonly sent = new Set<string>();
  #position = '0';
  #count = 0;

  constructor(client: AlternatingClient) {
    this.#client = client;
  }

  /** The last position in an answer to the client. */
  get position(): string {
    return this.#position;
  }

  async create(name: string, serial: string | undefined): Promise<void> {
    const written = this.#draw(name, 0, serial);
    const reply = await this.#client.write({ method: 'POST', path: widgetsPath, body: bodyOf(name, written) });
    const slot = this.#slot(name);
    const isTaken = this.#isTaken(serial, name);
    if (reply.status === 201) {
      if (slot.state === 'live') throw wrong(reply, `${name} was there already`);
      if (isTaken) throw wrong(reply, `${serial ?? ''} was taken`);
      this.#created(name, reply, written);
      return;
    }
    if (reply.status !== 409) throw wrong(reply, `${name} was ${slot.state}`);
    if (reply.json.reason === 'UniqueValueTaken') {
      if (!isTaken) throw wrong(reply, `${serial ?? ''} was free`);
      return;
    }
    if (slot.state !== 'absent') return;
    // An earlier attempt of this very request has succeeded and is stored.
    await this.#landed(reply, name, written);
  }

  /** With the version it read, with one that is out of date, or without one. */
  async replace(name: string, precondition: 'current' | 'stale' | 'none', serial: string | undefined): Promise<void> {
    const slot = this.#slot(name);
    const known = slot.state === 'absent' ? undefined : slot.known;
    const written = this.#draw(name, known === undefined ? 0 : known.size + 1, serial);
    const version = precondition === 'none' ? undefined : (known?.version ?? 0) - (precondition === 'stale' ? 1 : 0);
    if (version !== undefined && version < 0) return;
    const reply = await this.#client.write({
      method: 'PUT',
      path: `${widgetsPath}/${name}`,
      body: bodyOf(name, written, version),
    });
    await this.#checkUpdate(reply, { name, written, precondition });
  }

  /** A merge patch, or a JSON patch that tests its base. */
  async patch(name: string, kind: 'merge' | 'json', serial: string | undefined): Promise<void> {
    const slot = this.#slot(name);
    const known = slot.state === 'absent' ? undefined : slot.known;
    const written = this.#draw(
      name,
      known === undefined ? 0 : known.size + 1,
      kind === 'merge' ? serial : known?.serial,
    );
    const body =
      kind === 'merge'
        ? { spec: { title: written.title, size: written.size, serial: written.serial ?? null } }
        : [
            { op: 'test', path: '/spec/title', value: known?.title ?? '' },
            { op: 'replace', path: '/spec/title', value: written.title },
            { op: 'add', path: '/spec/size', value: written.size },
          ];
    const reply = await this.#client.write({
      method: 'PATCH',
      path: `${widgetsPath}/${name}`,
      body,
      headers: { 'content-type': `application/${kind === 'merge' ? 'merge-patch' : 'json-patch'}+json` },
    });
    await this.#checkUpdate(reply, { name, written, precondition: kind === 'merge' ? 'none' : 'tested' });
  }

  async remove(name: string): Promise<void> {
    const slot = this.#slot(name);
    const reply = await this.#client.write({ method: 'DELETE', path: `${widgetsPath}/${name}` });
    if (reply.status === 404) {
      if (slot.state === 'live' && !reply.isRepeated) throw wrong(reply, `${name} was there`);
      // The first sending has landed.
      if (slot.state === 'live') this.#removed(name, slot.known);
      return;
    }
    if (reply.status !== 200 || slot.state === 'absent' || reply.json.metadata.deletionTimestamp === undefined)
      throw wrong(reply, `${name} was ${slot.state}`);
    // The mark and the removal are one append.
    const version = slot.known.version + 2;
    if (reply.json.metadata.version !== version) throw wrong(reply, `its version must be ${version.toString()}`);
    this.#record(reply);
    this.#removed(name, slot.known);
  }

  /** Reads the object at the last position, on the other node. */
  async get(name: string): Promise<void> {
    const reply = await this.#client.read({ path: `${widgetsPath}/${name}?resourceVersion=${this.#position}` });
    const slot = this.#slot(name);
    if (reply.status !== (slot.state === 'absent' ? 404 : 200)) throw wrong(reply, `${name} was ${slot.state}`);
    if (slot.state !== 'absent') this.#same(reply, reply.json, slot.known);
  }

  /** Without a position a node may be behind, but it is never wrong: it shows what once was. */
  async glance(name: string): Promise<void> {
    const reply = await this.#client.send({ path: `${widgetsPath}/${name}` });
    if (reply.status === 404) return;
    if (reply.status !== 200 || this.#titles.get(name)?.has(reply.json.spec.title) !== true)
      throw wrong(reply, `${name} never was so`);
  }

  async list(): Promise<void> {
    const reply = await this.#client.read({ path: `${widgetsPath}?resourceVersion=${this.#position}` });
    if (reply.status !== 200) throw wrong(reply, 'a list is always there');
    const shown = new Map((reply.json.items as readonly Item[]).map((item) => [item.metadata.name, item]));
    for (const [name, slot] of this.#slots) {
      const item = shown.get(name);
      shown.delete(name);
      if (item === undefined && slot.state === 'live') throw wrong(reply, `${name} is missing`);
      if (item !== undefined && slot.state === 'absent') throw wrong(reply, `${name} was gone`);
      if (item !== undefined && slot.state !== 'absent') this.#same(reply, item, slot.known);
    }
    if (shown.size > 0) throw wrong(reply, `nobody made ${[...shown.keys()].join()}`);
  }

  #isTaken(serial: string | undefined, except: string): boolean {
    return (
      serial !== undefined &&
      [...this.#slots].some(([name, slot]) => name !== except && slot.state === 'live' && slot.known.serial === serial)
    );
  }

  async #checkUpdate(
    reply: Reply & { readonly isRepeated: boolean },
    {
      name,
      written,
      precondition,
    }: {
      readonly name: string;
      readonly written: Written;
      readonly precondition: 'current' | 'stale' | 'none' | 'tested';
    },
  ): Promise<void> {
    const slot = this.#slot(name);
    const isTaken = this.#isTaken(written.serial, name);
    if (reply.status === 200) {
      if (slot.state === 'absent') throw wrong(reply, `${name} was not there`);
      if (precondition === 'stale') throw wrong(reply, 'the version was out of date');
      if (isTaken) throw wrong(reply, `${written.serial ?? ''} was taken`);
      this.#updated(name, reply, { slot, written });
      return;
    }
    if (reply.status === 404 && slot.state !== 'live') return;
    const isRefusedAsTaken = reply.json?.reason === 'UniqueValueTaken' && isTaken;
    if (reply.status === 409 && (isRefusedAsTaken || precondition === 'stale')) return;
    if (
      reply.isRepeated &&
      slot.state === 'live' &&
      (precondition === 'current' ? reply.status === 409 : precondition === 'tested' && reply.status === 422)
    ) {
      await this.#landed(reply, name, written);
      return;
    }
    throw wrong(reply, `${name} was ${slot.state}, with ${precondition}`);
  }

  /** The node that refused has seen why: it shows what an earlier sending of the same request has done. */
  async #landed(refused: Reply & { readonly isRepeated: boolean }, name: string, written: Written): Promise<void> {
    const slot = this.#slot(name);
    if (!refused.isRepeated) throw wrong(refused, `${name} was ${slot.state}`);
    const reply = await this.#client.send({ path: `${widgetsPath}/${name}` }, refused.node);
    if (reply.status !== 200 || reply.json.spec.title !== written.title)
      throw wrong(refused, `but it shows ${reply.text}`);
    if (slot.state === 'absent') this.#created(name, reply, written);
    else this.#updated(name, reply, { slot, written });
  }

  #created(name: string, reply: Reply, written: Written): void {
    const slot = this.#slot(name);
    if (slot.state !== 'absent') throw wrong(reply, `${name} was there already`);
    const known = this.#take(reply, written, slot.last + 1);
    this.#slots.set(name, { state: 'live', known });
  }

  #updated(
    name: string,
    reply: Reply,
    { slot, written }: { readonly slot: Exclude<Slot, { state: 'absent' }>; readonly written: Written },
  ): void {
    const known = this.#take(reply, written, slot.known.version + 1);
    if (known.uid !== slot.known.uid) throw wrong(reply, 'its uid has changed');
    this.#slots.set(name, { ...slot, known });
  }

  #take(reply: Reply, written: Written, version: number): Known {
    const { metadata, spec } = reply.json;
    if (metadata.version !== version) throw wrong(reply, `its version must be ${version.toString()}`);
    if (spec.title !== written.title || spec.size !== written.size || spec.serial !== written.serial)
      throw wrong(reply, `the written state is ${JSON.stringify(written)}`);
    this.acknowledged.add(written.title);
    this.#record(reply);
    return { ...written, version, resourceVersion: metadata.resourceVersion, uid: metadata.uid };
  }

  #same(reply: Reply, item: Item, known: Known): void {
    const { metadata, spec } = item;
    if (
      metadata.version !== known.version ||
      metadata.uid !== known.uid ||
      spec.title !== known.title ||
      spec.serial !== known.serial
    )
      throw wrong(reply, `it is ${JSON.stringify(known)}`);
    if (metadata.resourceVersion !== known.resourceVersion)
      throw wrong(reply, `its resourceVersion is ${known.resourceVersion}`);
    if (metadata.deletionTimestamp !== undefined) throw wrong(reply, 'nobody deletes it');
  }

  #removed(name: string, { version }: Known): void {
    this.#slots.set(name, { state: 'absent', last: version + 2 });
  }

  #record({ json }: Reply): void {
    const position: string = json.metadata.resourceVersion;
    if (BigInt(position) > BigInt(this.#position)) this.#position = position;
  }

  #slot(name: string): Slot {
    return this.#slots.get(name) ?? { state: 'absent', last: -1 };
  }

  #draw(name: string, size: number, serial: string | undefined): Written {
    this.#count += 1;
    const title = `${name} ${this.#count.toString()}`;
    this.sent.add(title);
    const titles: Set<string> | undefined = this.#titles.get(name);
    if (titles === undefined) this.#titles.set(name, new Set([title]));
    else titles.add(title);
    return { title, size, serial };
  }
}

export function wrong({ node, status, text }: Reply, why: string): Error {
  return new Error(`${node.name} answered ${status.toString()} ${text}: ${why}`);
}

function bodyOf(name: string, { title, size, serial }: Written, version?: number): unknown {
  return {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Widget',
    metadata: { name, ...(version === undefined ? {} : { version }) },
    spec: { title, size, ...(serial === undefined ? {} : { serial }) },
  };
}
