import { isList, isObject } from '../../base/guards.ts';
import { openApiSchemaDepthMax, openApiSchemasMax } from '../../limits/openapi.ts';
import { referenceTo as nameReference } from '../names.ts';
import type { Schema } from '../../resource/schema/schema-check.ts';
import { readers, weigh, type Reading } from './keywords-30.ts';
import { isShownExtension } from './extensions.ts';
import { holdsReference } from './reference-words.ts';
import { SchemaTargets } from './schema-targets.ts';
import { allOf, anything, isAnything, nothing, unknown, type Translated } from './translated.ts';
import { endlessIn } from './alias-cycles.ts';

export type TranslatedDocument = {
  /** The schema, with references to `components`. */
  readonly schema: Schema;
  readonly isExact: boolean;
  /** The targets of references, by the name of their component. */
  readonly components: ReadonlyMap<string, Schema>;
  /** Whether a cycle of references exists in which each reference applies to the whole value. */
  readonly isEndless: boolean;
};

/**
 * Translates JSON Schema 2020-12 into schema objects of OpenAPI 3.0. The result accepts every value that `root`
 * accepts, without the constraints that OpenAPI 3.0 cannot express. References within the schema become references to
 * components. A component is named `<name>.<last segment of the reference>`, with a number if the name is already used.
 */
export function toOpenApi30(root: unknown, name: string): TranslatedDocument {
  const translation = new Translation(root, name);
  const { schema, isExact } = translation.translate(root, 0);
  const endless = endlessIn(translation.components);
  const components = new Map([...translation.components].map(([key, one]) => [key, endless.has(key) ? {} : one]));
  return { schema, isExact, components, isEndless: endless.size > 0 };
}

type Target = {
  readonly name: string;
  isExact: boolean;
};

class Translation {
  readonly components = new Map<string, Schema>();
  readonly #schemas: SchemaTargets;
  readonly #name: string;
  readonly #targets = new Map<string, Target>();
  readonly #names = new Set<string>();
  #schemasLeft = openApiSchemasMax;

  constructor(root: unknown, name: string) {
    this.#schemas = new SchemaTargets(root);
    this.#name = name;
  }

  translate(schema: unknown, depth: number): Translated {
    if (schema === false) return nothing;
    if (schema === true) return anything;
    if (!isObject(schema) || depth > openApiSchemaDepthMax || this.#schemasLeft <= 0) return unknown;
    this.#schemasLeft -= 1;
    const reading: Reading = {
      schema,
      out: {},
      parts: [],
      isExact: true,
      weight: 1,
      translate: (inner) => this.translate(inner, depth + 1),
      reference: (ref) => this.#reference(ref, depth + 1),
    };
    for (const [keyword, value] of Object.entries(schema)) read(reading, keyword, value);
    return finished(reading);
  }

  /**
   * Translates the target of a reference into a component, and returns a reference to the component. During the
   * translation, the target counts as inexact, because the translation may accept more values than the target.
   */
  #reference(ref: string, depth: number): Translated {
    const known = this.#targets.get(ref);
    if (known !== undefined) return referenceTo(known);
    const found = this.#schemas.find(ref);
    if (found === undefined) return unknown;
    const target: Target = { name: this.#nameFor(ref), isExact: false };
    this.#targets.set(ref, target);
    const { schema, isExact } = this.translate(found.schema, depth);
    this.components.set(target.name, schema);
    target.isExact = isExact;
    return referenceTo(target);
  }

  #nameFor(ref: string): string {
    const last = ref === '#' ? 'Self' : (ref.split(/[#/]/u).at(-1) ?? '');
    const wanted = `${this.#name}.${last.replaceAll(/[^\w-]/gu, '_')}`;
    let free = wanted;
    for (let count = 2; this.#names.has(free); count += 1) free = `${wanted}-${String(count)}`;
    this.#names.add(free);
    return free;
  }
}

function referenceTo({ name, isExact }: Target): Translated {
  return { schema: nameReference(name), isExact, weight: 1 };
}

function read(reading: Reading, keyword: string, value: unknown): void {
  const reader = readers.get(keyword);
  if (reader !== undefined) {
    reader(reading, value);
  } else if (isShownExtension(keyword)) {
    if (holdsReference(value)) return;
    reading.out[keyword] = value;
    reading.weight += weigh(value);
  } else if (!keyword.startsWith('x-')) {
    reading.isExact = false;
  }
}

/** Keywords that do not depend on other keywords of the schema. */
const independent = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'enum']);

function finished({ out, parts, isExact, weight }: Reading): Translated {
  if (out['type'] === 'array' && out['items'] === undefined) out['items'] = {};
  if (out['readOnly'] === true && out['writeOnly'] === true) delete out['writeOnly'];
  const rest = parts.filter((part) => !isAnything(part) && !joins(out, part));
  const whole = {
    isExact: isExact && parts.every((part) => part.isExact),
    weight: parts.reduce((sum, part) => sum + part.weight, weight),
  };
  if (Object.keys(out).length === 0) return { ...allOf(rest), ...whole };
  if (rest.length > 0) out['allOf'] = [...listOf(out['allOf']), ...rest.map(({ schema }) => schema)];
  return { schema: out, ...whole };
}

/**
 * Adds the part to `out` if the part has only one keyword, which is independent of other keywords and absent from
 * `out`. Returns whether the part was added.
 */
function joins(out: Record<string, unknown>, { schema }: Translated): boolean {
  const [keyword = '', ...others] = Object.keys(schema);
  if (others.length > 0 || !independent.has(keyword) || out[keyword] !== undefined) return false;
  out[keyword] = schema[keyword];
  return true;
}

function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}
