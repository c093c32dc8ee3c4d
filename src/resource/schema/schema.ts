import { _, Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv';
import formatsModule from 'ajv-formats';

import { messageOf } from '../../base/error-message.ts';
import { isObject } from '../../base/guards.ts';
import { validationErrorsMax } from '../../limits/requests.ts';
import { compileRules } from '../rules/compile-rules.ts';
import type { SchemaCheck, SchemaRules, Violation } from '../type/resource-type.ts';
import { areDistinct, isAmong } from './equal-values.ts';
import { compileDefaults, type FillDefaults } from './defaults/compile-defaults.ts';
import type { PartCompilers } from './defaults/default-problems.ts';
import { checkSchema, checkTypeSchema, type CheckedSchema, type Schema } from './schema-check.ts';
import { schemaProblems } from './schema-problems.ts';
import { explain, type Explained } from './schema-violations.ts';
import { prune } from './prune.ts';

/**
 * The JSON Schema 2020-12 of a type, such as `{type: 'object', properties: {spec: …, status: …}}`. The schema describes
 * all members of the object except apiVersion, kind and metadata.
 *
 * At the top level, unknown members are refused unless the schema allows them. Below the top level, unknown members are
 * allowed unless `additionalProperties` is false, as in JSON Schema. Values are never converted.
 */
export type CompiledSchema = {
  readonly ok: true;
  /** The schema as declared: a plain JSON copy. */
  readonly schema: Schema;
  /**
   * Returns all violations, at most `validationErrorsMax`; for a very large object, only the first violation.
   * apiVersion, kind and metadata may be present or absent.
   */
  readonly violations: (object: Members) => readonly Violation[];
  readonly check: (object: Members) => SchemaCheck;
  /**
   * Checks an object for a write of its status. If the check of a very large object stops at the first violation, only
   * the status is checked instead, provided that the schema has `properties.status`.
   */
  readonly checkStatus: (object: Members) => SchemaCheck;
  /**
   * Returns a copy of the object without the members that the schema refuses as unknown, and the pointers of these
   * members. The copy may still be invalid.
   */
  readonly prune: (object: Members) => { readonly object: Members; readonly unknown: readonly string[] };
  readonly fillDefaults: FillDefaults;
  /** Undefined for a schema without rules. */
  readonly rules: SchemaRules | undefined;
};
export type SchemaResult = CompiledSchema | { readonly ok: false; readonly problems: readonly string[] };

type Members = Readonly<Record<string, unknown>>;
type Checked = Extract<CheckedSchema, { readonly ok: true }>;
type Validate = (value: unknown) => readonly Explained[];

export function compileSchema(input: unknown): SchemaResult {
  const checked = checkTypeSchema(input);
  if (!checked.ok) return checked;
  const compiled = compileValidator(checked.schema, checked.extensions, withPlatformMembers);
  if (!compiled.ok) return compiled;
  const defaults = withParts(checked, (parts) => compileDefaults(checked.schema, parts));
  const rules = compileRules(checked.schema);
  if (!defaults.ok || !rules.ok)
    return { ok: false, problems: [defaults, rules].flatMap((part) => (part.ok ? [] : part.problems)) };
  return {
    ok: true,
    schema: checked.schema,
    violations: (object) => violationsOf(compiled.validate(object)),
    ...checksOf(checked, compiled.validate),
    prune: (object) => prune(object, compiled.validate),
    fillDefaults: defaults.fillDefaults,
    rules: rules.rules,
  };
}

function checksOf(checked: Checked, validate: Validate): Pick<CompiledSchema, 'check' | 'checkStatus'> {
  const check = (object: Members): SchemaCheck => {
    const found = validate(object);
    return { found, isComplete: found.length === 0 || !isLarge(object) };
  };
  const { properties } = checked.schema;
  if (!isObject(properties) || !isObject(properties['status'])) return { check, checkStatus: check };
  let validateStatus: Validate | undefined;
  return {
    check,
    checkStatus: (object) => {
      const whole = check(object);
      if (whole.isComplete) return whole;
      validateStatus ??= withParts(checked, ({ compilePart }) => compilePart('/properties/status'));
      const found = object['status'] === undefined ? [] : validateStatus(object['status']);
      return {
        found: found.map((violation) => ({ ...violation, pointer: `/status${violation.pointer}` })),
        isComplete: false,
      };
    },
  };
}

/**
 * Calls `use` with functions that compile parts of the schema. A reference in a part has the same target as in the
 * whole schema. The whole schema is registered once for all parts, and must have been checked.
 */
function withParts<T>({ schema, extensions }: Checked, use: (parts: PartCompilers) => T): T {
  const id = 'whole';
  const partAt = (pointer: string): Schema => ({
    $ref: `${id}#${pointer.split('/').map(encodeURIComponent).join('/')}`,
  });
  firstError.addSchema(schema, id, undefined, false);
  try {
    return use({
      compilePart: (pointer) => {
        const part = partAt(pointer);
        const compiled = compileWith(firstError, part, extensions);
        return (value) => explain(failuresOf(compiled, value), part);
      },
      compileParts: (pointers) => {
        const parts = { type: 'array', prefixItems: pointers.map(partAt), items: false, minItems: pointers.length };
        const compiled = compileWith(firstError, parts, extensions);
        return (values) => failuresOf(compiled, values).length === 0;
      },
    });
  } finally {
    firstError.removeSchema(id);
  }
}

/** A compiled schema for any JSON value, used for the requests and responses of custom APIs. */
export type CompiledValueSchema =
  | { readonly ok: true; readonly schema: Schema; readonly violations: (value: unknown) => readonly Violation[] }
  | { readonly ok: false; readonly problems: readonly string[] };

export function compileValueSchema(input: unknown): CompiledValueSchema {
  const checked = checkSchema(input);
  if (!checked.ok) return checked;
  const compiled = compileValidator(checked.schema, checked.extensions);
  return compiled.ok
    ? { ok: true, schema: checked.schema, violations: (value) => violationsOf(compiled.validate(value)) }
    : compiled;
}

/** Compiles a schema. `validate` returns the violations of a value; for a large value, only the first violation. */
function compileValidator(
  declared: Schema,
  extensions: ReadonlySet<string>,
  complete = (schema: Schema) => schema,
): { readonly ok: true; readonly validate: Validate } | { readonly ok: false; readonly problems: readonly string[] } {
  const problems = schemaProblems(everyError, declared);
  if (problems.length > 0) return { ok: false, problems };
  const schema = complete(declared);
  let first: ValidateFunction;
  try {
    first = compileWith(firstError, schema, extensions);
  } catch (error) {
    return { ok: false, problems: [messageOf(error)] };
  }
  // Most values are valid, so the validator that continues after an error is created at the first invalid value.
  let every: ValidateFunction | undefined;
  const validate: Validate = (value) => {
    const errors = failuresOf(first, value);
    if (errors.length === 0 || isLarge(value)) return explain(errors, schema);
    every ??= compileWith(everyError, schema, extensions);
    return explain(failuresOf(every, value), schema);
  };
  return { ok: true, validate };
}

function violationsOf(explained: readonly Explained[]): readonly Violation[] {
  return explained.slice(0, validationErrorsMax).map(({ pointer, detail }) => ({ pointer, detail }));
}

const options = {
  strict: true,
  strictTypes: false,
  strictTuple: false,
  strictRequired: false,
  allowUnionTypes: true,
  // Only own members are validated: an inherited member such as `toString` is treated as absent.
  ownProperties: true,
  useDefaults: false,
  coerceTypes: false,
  addUsedSchema: false,
  logger: false,
  multipleOfPrecision: 6,
  // The optimization passes double the compile time of a schema, and the compiled code is not faster.
  code: { optimize: false },
} as const;
const firstError = newValidator({ ...options, allErrors: false });
const everyError = newValidator({ ...options, allErrors: true });

function newValidator(validatorOptions: ConstructorParameters<typeof Ajv2020>[0]): Ajv2020 {
  const ajv = new Ajv2020(validatorOptions);
  // The package is CommonJS, so the default export is a member of the imported module.
  formatsModule.default(ajv);
  // Accepts the annotations that OpenAPI documents use in addition to the keywords of JSON Schema.
  ajv.addVocabulary(['example', 'externalDocs', 'xml']);
  ajv.removeKeyword('uniqueItems');
  // The built-in rule compares every pair of items, which takes minutes for a long array of objects.
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (wanted: boolean) => (wanted ? areDistinct : () => true),
    error: { message: 'must not have equal items' },
  });
  ajv.removeKeyword('enum');
  // The built-in rule compares a value with each allowed one: a large list of countries takes a fifth of a second.
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: isAmong,
    error: {
      message: 'must be equal to one of the allowed values',
      params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
    },
  });
  return ajv;
}

function compileWith(ajv: Ajv2020, schema: Schema, extensions: ReadonlySet<string>): ValidateFunction {
  for (const keyword of extensions) if (ajv.RULES.keywords[keyword] !== true) ajv.addKeyword(keyword);
  try {
    return ajv.compile(schema);
  } finally {
    // Otherwise, the validator's cache would keep every schema that was ever compiled.
    ajv.removeSchema(schema);
  }
}

/**
 * Keywords through which a schema may declare further members. `additionalProperties: false` would refuse these
 * members. `unevaluatedProperties: false` accepts the members, but takes longer to evaluate.
 */
const applicators = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/**
 * Returns the schema of whole objects: the declared schema with apiVersion, kind and metadata. The returned schema
 * refuses unknown members at the top level unless the declared schema allows them.
 */
export function withPlatformMembers(schema: Schema): Schema {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const closed =
    schema['additionalProperties'] !== undefined || schema['unevaluatedProperties'] !== undefined
      ? {}
      : applicators.some((keyword) => schema[keyword] !== undefined)
        ? { unevaluatedProperties: false }
        : { additionalProperties: false };
  return {
    ...schema,
    type: 'object',
    properties: { ...properties, apiVersion: true, kind: true, metadata: true },
    ...closed,
  };
}

function failuresOf(validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  try {
    if (validate(value)) return [];
  } catch (error) {
    // A circular reference in the schema that does not descend into the value exceeds the call stack.
    const message = `cannot be validated with the schema: ${messageOf(error)}`;
    return [{ keyword: 'schema', instancePath: '', schemaPath: '#', params: {}, message }];
  }
  return validate.errors ?? [];
}

/**
 * The number of nested values up to which all errors of a value are collected. For a larger value, only the first error
 * is returned, because each error uses memory.
 */
const collectedValuesMax = 10_000;

function isLarge(whole: unknown): boolean {
  let left = collectedValuesMax;
  const count = (value: unknown): void => {
    left -= 1;
    if (left < 0 || typeof value !== 'object' || value === null) return;
    for (const inner of Array.isArray(value) ? value : Object.values(value)) {
      if (left < 0) return;
      count(inner);
    }
  };
  count(whole);
  return left < 0;
}
