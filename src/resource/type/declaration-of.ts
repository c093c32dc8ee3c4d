import { createHash } from 'node:crypto';

import type { ReferenceDeclaration } from '../references/reference-declaration.ts';
import type { Declaration, DeclaredBy } from './declaration.ts';
import { noDefaults } from '../schema/defaults/compile-defaults.ts';
import type { CompiledSchema } from '../schema/schema.ts';
import { keysGeneration } from './index-definition.ts';
import type { IndexSpec } from './index-spec.ts';
import type { DeclaredVersions } from './versions/declared-versions.ts';

export type DeclaredParts = {
  readonly plugin: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Pick<CompiledSchema, 'schema' | 'fillDefaults'>;
  readonly statusSubresource: boolean;
  readonly specs: readonly IndexSpec[];
  /** The fingerprint of the indexes, including the source texts of their functions. */
  readonly fingerprint: string;
  /** The source texts of the type's hooks; empty for a type without hooks. */
  readonly hooks: readonly string[];
  readonly references: readonly ReferenceDeclaration[];
  readonly versions: DeclaredVersions | undefined;
};

/** Returns the declaration for the log, and the fingerprint of the type. */
export function declarationOf(
  parts: DeclaredParts,
  by: DeclaredBy,
): { readonly declaration: Declaration; readonly fingerprint: string } {
  const { plugin, version, kind, statusSubresource, specs, fingerprint, hooks, references, versions } = parts;
  const { schema, fillDefaults } = parts.schema;
  const functions = (versions?.functions ?? []).map(String);
  const texts = [...hooks, ...functions];
  const code = by.code ?? (texts.length === 0 ? fingerprint : digestOf([fingerprint, texts]));
  const shapes = specs.map((spec) => [...keyParts(spec), spec.order ?? 'ASC', spec.unique ?? false]);
  const converting = functions.length === 0 ? [] : [code];
  const unique = specs
    .filter((spec) => spec.unique === true)
    .map((spec) => ({
      index: spec.name,
      keys: digestOf([...keyParts(spec), spec.indexFunc === undefined ? '' : code, ...converting]).slice(0, 32),
    }));
  const declaration = {
    shape: digestOf([
      version,
      kind,
      statusSubresource,
      schema,
      shapes,
      ...(references.length === 0 ? [] : [references]),
      ...versionShapes(versions),
    ]),
    code,
    plugin,
    version: by.version,
    unique,
    versions: versions?.names ?? [version],
    stored: version,
    ...(references.length === 0 ? {} : { references }),
  };
  const defaults = fillDefaults === noDefaults ? '' : schema;
  return { declaration, fingerprint: digestOf([fingerprint, version, kind, defaults, ...converting]) };
}

function versionShapes(versions: DeclaredVersions | undefined): readonly unknown[] {
  if (versions === undefined) return [];
  const { names, others, steps } = versions;
  const shapes = others.map(({ name, schema, served }) => [name, schema.schema, served]);
  return [[names, shapes, steps.map(({ up }) => up !== undefined)]];
}

function keyParts({ name, type, multi, indexFunc }: IndexSpec): readonly unknown[] {
  return [keysGeneration, name, type ?? 'string', multi ?? false, indexFunc !== undefined];
}

/** Returns the same digest for equal JSON values, independent of the order of members. */
function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex');
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
