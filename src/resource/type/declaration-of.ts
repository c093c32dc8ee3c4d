import { createHash } from 'node:crypto';

import type { ReferenceDeclaration } from '../references/reference-declaration.ts';
import type { Declaration, DeclaredBy } from './declaration.ts';
import { keysGeneration } from './index-definition.ts';
import type { IndexSpec } from './index-spec.ts';

export type DeclaredParts = {
  readonly plugin: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: unknown;
  readonly statusSubresource: boolean;
  readonly specs: readonly IndexSpec[];
  /** The fingerprint of the indexes, including the source of their functions. */
  readonly fingerprint: string;
  /** The source of the type's hooks; empty for a type without hooks. */
  readonly hooks: readonly string[];
  readonly references: readonly ReferenceDeclaration[];
};

export function declarationOf(parts: DeclaredParts, by: DeclaredBy): Declaration {
  const { plugin, version, kind, schema, statusSubresource, specs, fingerprint, hooks, references } = parts;
  const code = by.code ?? (hooks.length === 0 ? fingerprint : digestOf([fingerprint, hooks]));
  const shapes = specs.map((spec) => [...keyParts(spec), spec.order ?? 'ASC', spec.unique ?? false]);
  const unique = specs
    .filter((spec) => spec.unique === true)
    .map((spec) => ({
      index: spec.name,
      keys: digestOf([...keyParts(spec), spec.indexFunc === undefined ? '' : code]).slice(0, 32),
    }));
  return {
    shape: digestOf([
      version,
      kind,
      statusSubresource,
      schema,
      shapes,
      ...(references.length === 0 ? [] : [references]),
    ]),
    code,
    plugin,
    version: by.version,
    unique,
    versions: [version],
    stored: version,
    ...(references.length === 0 ? {} : { references }),
  };
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
