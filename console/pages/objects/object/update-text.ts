import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseDocument,
  type Document,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

import { textOf } from './draft-text.ts';
import { isJsonObject, type Json, type JsonObject } from './editable.ts';
import { isEqual } from './merge.ts';

/**
 * Returns a YAML text with another value. Keeps the comments, the order and the form of the unchanged parts. If this is
 * not possible, for example because of aliases, returns a newly formatted text.
 */
export function updatedText(text: string, value: JsonObject): string {
  const document = parseDocument(text, { schema: 'core' });
  if (document.errors.length > 0 || !isMap(document.contents)) return textOf(value, 'yaml');
  try {
    const before: unknown = document.toJS({ maxAliasCount: 100 });
    if (!isJsonObject(before)) return textOf(value, 'yaml');
    updateMap(document, document.contents, { before, after: value });
    const updated = document.toString({ lineWidth: 0 });
    const result: unknown = parseDocument(updated, { schema: 'core' }).toJS({ maxAliasCount: 100 });
    return isJsonObject(result) && isEqual(result, value) ? updated : textOf(value, 'yaml');
  } catch {
    return textOf(value, 'yaml');
  }
}

type Change<T extends Json> = { readonly before: T; readonly after: T };

function updateMap(document: Document, map: YAMLMap, { before, after }: Change<JsonObject>): void {
  map.items = map.items.filter((pair) => Object.hasOwn(after, nameOf(pair.key)));
  for (const pair of map.items) {
    const name = nameOf(pair.key);
    pair.value = updated(document, pair.value, { before: before[name] ?? null, after: after[name] ?? null });
  }
  const present = new Set(map.items.map(({ key }) => nameOf(key)));
  if (map.items.length === 0) map.flow = false;
  for (const [name, value] of Object.entries(after))
    if (!present.has(name)) map.items.push(document.createPair(name, value));
}

function nameOf(key: unknown): string {
  return String(isNode(key) ? key.toJSON() : key);
}

/** Updates a list. An element that moves keeps its node, and therefore its comments. */
function updateSeq(document: Document, seq: YAMLSeq, { before, after }: Change<readonly Json[]>): void {
  const nodes = seq.items;
  const free = new Set(nodes.keys());
  const take = (index: number | undefined): number | undefined => {
    if (index !== undefined) free.delete(index);
    return index;
  };
  const sources = after.map((value, index) =>
    isEqual(before[index], value) && free.has(index) ? take(index) : undefined,
  );
  for (const [index, value] of after.entries())
    sources[index] ??= take([...free].find((candidate) => isEqual(before[candidate], value)));
  for (const index of after.keys()) sources[index] ??= take(free.has(index) ? index : undefined);
  if (nodes.length === 0) seq.flow = false;
  seq.items = after.map((value, index) => {
    const source = sources[index];
    if (source === undefined) return document.createNode(value);
    return updated(document, nodes[source], { before: before[source] ?? null, after: value });
  });
}

function updated(document: Document, node: unknown, change: Change<Json>): unknown {
  const { before, after } = change;
  if (isEqual(before, after) && node !== undefined && node !== null) return node;
  if (isMap(node) && isJsonObject(before) && isJsonObject(after)) {
    updateMap(document, node, { before, after });
    return node;
  }
  if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) {
    updateSeq(document, node, { before, after });
    return node;
  }
  return replacement(document, node, change);
}

/** Returns a new node with the comments and the quotes of the replaced node. */
function replacement(document: Document, node: unknown, { before, after }: Change<Json>): unknown {
  const created = document.createNode(after);
  if (!isNode(node) || isAlias(node) || !isNode(created)) return created;
  const { comment, commentBefore, spaceBefore } = node;
  Object.assign(created, { comment, commentBefore, ...(spaceBefore === undefined ? {} : { spaceBefore }) });
  const areTexts = typeof before === 'string' && typeof after === 'string';
  if (areTexts && isScalar(node) && isScalar(created)) Object.assign(created, { type: node.type });
  return created;
}
