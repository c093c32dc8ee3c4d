import { isObject } from '../../base/guards.ts';
import { valueAt } from '../../resource/object/json-pointer.ts';
import { subschemas } from '../../resource/schema/schema-check.ts';

type Target = {
  readonly schema: unknown;
  readonly pointer: string;
};

/** Finds the targets of references within a schema. A reference is a JSON pointer or an anchor. */
export class SchemaTargets {
  readonly #root: unknown;
  /** Pointers by anchor; computed on first use. */
  #anchors: ReadonlyMap<string, string> | undefined;

  constructor(root: unknown) {
    this.#root = root;
  }

  /**
   * Returns the target's schema and its decoded JSON pointer; undefined if the target is missing or is not a schema.
   */
  find(ref: string): Target | undefined {
    if (!ref.startsWith('#')) return undefined;
    const pointer = ref === '#' || ref.startsWith('#/') ? decoded(ref.slice(1)) : this.#pointerOf(ref.slice(1));
    if (pointer === undefined) return undefined;
    const schema = valueAt(this.#root, pointer);
    return isObject(schema) || typeof schema === 'boolean' ? { schema, pointer } : undefined;
  }

  #pointerOf(anchor: string): string | undefined {
    this.#anchors ??= anchorsOf(this.#root);
    return this.#anchors.get(anchor);
  }
}

function decoded(pointer: string): string | undefined {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return undefined;
  }
}

function anchorsOf(root: unknown): ReadonlyMap<string, string> {
  const anchors = new Map<string, string>();
  for (const { pointer, schema } of subschemas(root))
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = schema[keyword];
      if (typeof anchor === 'string' && !anchors.has(anchor)) anchors.set(anchor, pointer);
    }
  return anchors;
}
