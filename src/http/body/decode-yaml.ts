import { isUtf8 } from 'node:buffer';

import { isAlias, isMap, isScalar, isSeq, type Alias, type Node, type YAMLMap } from 'yaml';

import type { Json } from '../../base/json.ts';
import { escapeToken } from '../../base/reference-token.ts';
import { parseYaml, YamlFault } from './parse-yaml.ts';

export type DecodedYaml = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly detail: string };

export type YamlBounds = {
  readonly depthMax: number;
  /**
   * The maximum total length of all strings and member names in UTF-16 units, plus one for each value. Aliases are
   * counted in expanded form.
   */
  readonly lengthMax: number;
};

/**
 * Decodes one untrusted YAML document (YAML 1.2, core schema) to a JSON value. Refuses input that two readers could
 * interpret differently (decision 0007), such as duplicate keys, merge keys and several documents.
 *
 * Takes milliseconds for each KiB, and thus runs in a worker thread.
 */
export function decodeYaml(bytes: Uint8Array, bounds: YamlBounds): DecodedYaml {
  if (bytes.length === 0) return refused('the body is empty');
  if (!isUtf8(bytes)) return refused('the body is not valid UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  try {
    const document = parseYaml(text);
    const { explicit = false, version } = document.directives.yaml;
    if (explicit && version !== '1.2') return refused('only YAML 1.2 is accepted');
    return { ok: true, value: new YamlReader(text, bounds).value(document.contents, '', 0) };
  } catch (error) {
    if (error instanceof Unfit) return refused(error.message);
    if (error instanceof YamlFault) return refused(reasonOf(error, text, bounds));
    if (error instanceof RangeError) return refused(tooDeep(bounds));
    throw error;
  }
}

class Unfit extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = 'Unfit';
  }
}

const plainTags: ReadonlySet<string | undefined> = new Set([
  undefined,
  '!',
  ...['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
]);

/** Converts nodes in document order, because an alias refers to the last anchor of its name before the alias. */
class YamlReader {
  readonly #text: string;
  readonly #bounds: YamlBounds;
  readonly #anchors = new Map<string, Node>();
  /** The node to which each alias refers. A later anchor may have the same name. */
  readonly #targets = new Map<Alias, Node | undefined>();
  /** The collections that contain the current node. */
  readonly #open = new Set<Node>();
  #length = 0;

  constructor(text: string, bounds: YamlBounds) {
    this.#text = text;
    this.#bounds = bounds;
  }

  /** `path` is the JSON pointer of the node. */
  value(node: unknown, path: string, depth: number): Json {
    this.#add(1);
    if (isAlias(node)) return this.value(this.#targetOf(node, path), path, depth);
    if (isScalar(node)) {
      this.#name(node);
      return this.#scalar(node.value, node, path);
    }
    if (!isMap(node) && !isSeq(node)) return null;
    if (depth >= this.#bounds.depthMax) throw new Unfit(tooDeep(this.#bounds));
    this.#name(node);
    if (!plainTags.has(node.tag)) throw this.#unfit(`the tag ${shown(node.tag)} is not supported`, node, path);
    if (this.#open.has(node)) throw this.#unfit('an alias refers to a value that contains the alias', node, path);
    this.#open.add(node);
    const value = isMap(node)
      ? this.#members(node, path, depth + 1)
      : node.items.map((item, index) => this.value(item, `${path}/${String(index)}`, depth + 1));
    this.#open.delete(node);
    return value;
  }

  #members(map: YAMLMap, path: string, depth: number): Json {
    const members = new Map<string, Json>();
    for (const { key, value } of map.items) {
      const name = this.#key(key, map, path);
      const place = `${path}/${escapeToken(name)}`;
      if (members.has(name)) throw this.#unfit(`the key ${shown(name)} appears twice in one object`, key, place);
      members.set(name, this.value(value, place, depth));
    }
    return Object.fromEntries(members);
  }

  #key(given: unknown, map: YAMLMap, path: string): string {
    const key = isAlias(given) ? this.#targetOf(given, path) : given;
    if (!isScalar(key)) throw this.#unfit('a key must be a string', key ?? map, path);
    this.#name(key);
    const name = this.#scalar(key.value, key, path);
    if (typeof name !== 'string')
      throw this.#unfit(`the key ${JSON.stringify(name)} is not a string: write the key in quotes`, key, path);
    if (name === '<<' && key.type === 'PLAIN') throw this.#unfit('merge keys ("<<") are not accepted', key, path);
    if (name === '__proto__') throw this.#unfit('the key "__proto__" is not allowed', key, path);
    return name;
  }

  #scalar(value: unknown, node: Node & { readonly tag?: string }, path: string): Json {
    if (!plainTags.has(node.tag)) throw this.#unfit(`the tag ${shown(node.tag)} is not supported`, node, path);
    if (typeof value === 'string') {
      this.#add(value.length);
      return value;
    }
    if (typeof value === 'boolean' || value === null) return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.#unfit('JSON cannot represent this number', node, path);
  }

  #name(node: Node & { readonly anchor?: string }): void {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
  }

  #targetOf(alias: Alias, path: string): Node {
    if (!this.#targets.has(alias)) this.#targets.set(alias, this.#anchors.get(alias.source));
    const target = this.#targets.get(alias);
    if (target === undefined) throw this.#unfit(`no anchor precedes the alias ${shown(alias.source)}`, alias, path);
    return target;
  }

  #add(length: number): void {
    this.#length += length;
    if (this.#length > this.#bounds.lengthMax)
      throw new Unfit(`the aliases expand the body to more than ${String(this.#bounds.lengthMax)} characters`);
  }

  #unfit(reason: string, node: unknown, path: string): Unfit {
    const at = rangeOf(node);
    const place = at === undefined ? '' : `, at ${placeIn(this.#text, at)}`;
    return new Unfit(`${reason} (${path === '' ? 'at the top' : path})${place}`);
  }
}

function rangeOf(node: unknown): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined;
}

function reasonOf({ message, at }: YamlFault, text: string, bounds: YamlBounds): string {
  // The parser is recursive, so deep nesting overflows the stack.
  if (message.startsWith('Maximum call stack')) return tooDeep(bounds);
  return `${message.split('\n', 1)[0] ?? ''}, at ${placeIn(text, at)}`;
}

function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return `line ${String(before.split('\n').length)}, column ${String(offset - lineStart + 1)}`;
}

function tooDeep({ depthMax }: YamlBounds): string {
  return `the body nests deeper than ${String(depthMax)} levels`;
}

function shown(text: string | undefined): string {
  return JSON.stringify((text ?? '').slice(0, 128));
}

function refused(detail: string): DecodedYaml {
  return { ok: false, detail };
}
