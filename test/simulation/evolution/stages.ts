import { must } from '../../../src/base/unreachable.ts';
import type { DeclarationSource } from '../../../src/resource/type/declaration.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { compileType } from '../../../src/resource/type/type-declaration.ts';
import { domain } from '../../support/sample.ts';
import { conversionsOf, type Shape, type Step, type VersionName } from './conversions.ts';
import { steps, type MigrationName } from './migration-steps.ts';

/** A version of the plugin whose type evolves: its type, and what is checked without the code under test. */
export type Stage = Shape & {
  /** The version of the plugin. */
  readonly version: string;
  readonly type: ResourceType;
  readonly convert: readonly Step[];
  readonly migrations: readonly MigrationName[];
  /** The values that are filled in at reads in the preferred version, by the member of `spec`. */
  readonly defaults: Readonly<Record<string, string>>;
};

type Members = Readonly<Record<string, unknown>>;

const text = { type: 'string', minLength: 1, maxLength: 40 };
const size = { type: 'integer', minimum: 0 };
const serial = { serial: { type: 'string' } };
const color = { type: 'string', default: 'red' };

function schemaOf(properties: Members, required: readonly string[]): Members {
  const spec = { type: 'object', required, additionalProperties: false, properties };
  return { type: 'object', required: ['spec'], properties: { spec } };
}

const alpha = schemaOf({ title: text, size, ...serial }, ['title']);

function v1(isTiered: boolean): Members {
  return schemaOf(
    { name: text, size, ...serial, color, tier: text, grade: text },
    isTiered ? ['name', 'tier'] : ['name'],
  );
}

const dimensions = {
  type: 'object',
  required: ['width'],
  additionalProperties: false,
  properties: { width: size, unit: text },
};
const v2 = schemaOf(
  { name: text, dimensions, ...serial, color, tier: text, grade: text, mode: { type: 'string', default: 'auto' } },
  ['name', 'tier'],
);

const indexes = [{ name: 'spec.serial', unique: true }];
const colored = [...indexes, { name: 'spec.color' }];

type Declared = Shape & {
  readonly version: string;
  readonly schemas: readonly Members[];
  readonly indexes: readonly Members[];
  /** Versions that are converted and not served. */
  readonly unserved?: readonly VersionName[];
  readonly migrations: readonly MigrationName[];
  readonly defaults: Readonly<Record<string, string>>;
};

const plain = { isTiered: false, hasUnits: false } as const;
const tiered = { isTiered: true, hasUnits: false } as const;
const three = {
  versions: ['v1alpha1', 'v1', 'v2'],
  schemas: [alpha, v1(true), v2],
  indexes: colored,
  migrations: ['tier', 'grade'],
  defaults: { color: 'red', mode: 'auto' },
} as const;

/**
 * `1.1.0` renames a member and has a default, `1.2.0` requires a new member, `2.0.0` moves a member, `2.0.1` has only
 * other code, and `2.1.0` no longer serves the oldest version.
 */
const declared: readonly Declared[] = [
  { version: '1.0.0', ...plain, versions: ['v1alpha1'], schemas: [alpha], indexes, migrations: [], defaults: {} },
  {
    version: '1.1.0',
    ...plain,
    versions: ['v1alpha1', 'v1'],
    schemas: [alpha, v1(false)],
    indexes: colored,
    migrations: [],
    defaults: { color: 'red' },
  },
  {
    version: '1.2.0',
    ...tiered,
    versions: ['v1alpha1', 'v1'],
    schemas: [alpha, v1(true)],
    indexes: colored,
    migrations: ['tier'],
    defaults: { color: 'red' },
  },
  { version: '2.0.0', ...tiered, ...three },
  { version: '2.0.1', isTiered: true, hasUnits: true, ...three },
  { version: '2.1.0', isTiered: true, hasUnits: true, ...three, unserved: ['v1alpha1'] },
];

const samples: Readonly<Record<VersionName, Members>> = {
  v1alpha1: { spec: { title: 'Lamp', size: 2 } },
  v1: { spec: { name: 'Lamp', size: 2, color: 'blue', tier: 'gold' } },
  v2: { spec: { name: 'Lamp', dimensions: { width: 2, unit: 'cm' }, color: 'blue', tier: 'gold', mode: 'fixed' } },
};

function stageOf(given: Declared, source: DeclarationSource): Stage {
  const { version, versions, schemas, unserved = [], migrations, defaults, isTiered, hasUnits } = given;
  const preferred = must(versions.at(-1), 'there is a version');
  const convert = conversionsOf({ versions, isTiered, hasUnits });
  const compiled = compileType(
    {
      group: 'example.com',
      version: preferred,
      kind: 'Widget',
      singular: 'widget',
      plural: 'widgets',
      schema: schemas.at(-1),
      indexes: given.indexes,
      ...(versions.length === 1 ? {} : { convert }),
      versions: versions.map((name, at) => ({
        name,
        ...(name === preferred ? {} : { schema: schemas[at] }),
        ...(unserved.includes(name) ? { served: false } : {}),
        examples: [samples[name]],
      })),
    },
    { plugin: 'example', bundled: false, domain, by: { version, source, code: version } },
  );
  if (!compiled.ok) throw new Error(compiled.problems.join('\n'));
  return { version, versions, isTiered, hasUnits, type: compiled.type, convert, migrations, defaults };
}

/** Oldest first. From a folder, or installed as a package. */
export const stages = {
  folder: declared.map((each) => stageOf(each, 'folder')),
  package: declared.map((each) => stageOf(each, 'package')),
} as const;

export type StageSource = keyof typeof stages;

export function stepsOf({ migrations, type: { group, version, plural } }: Stage): readonly {
  readonly id: string;
  readonly type: { readonly group: string; readonly version: string; readonly plural: string };
  readonly up: (object: unknown) => unknown;
}[] {
  return migrations.map((id) => ({ id, type: { group, version, plural }, up: steps[id] }));
}
