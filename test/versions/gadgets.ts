import { compileType } from '../../src/resource/type/type-declaration.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';

/** A type with three versions: `title` became `name`, and then `width` and `height` became `size`. */

type Members = Readonly<Record<string, unknown>>;
type Converted = { readonly spec: Members } & Members;

function specOf(properties: Members, required: string): Members {
  return {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: { type: 'object', required: [required], additionalProperties: false, properties },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    },
  };
}

const text = { type: 'string', minLength: 1, maxLength: 20 };
const length = { type: 'integer', minimum: 0 };
export const gadgetSchemas = {
  v1alpha1: specOf({ title: text, width: length, height: length }, 'title'),
  v1beta1: specOf({ name: text, width: length, height: length, color: { type: 'string', default: 'red' } }, 'name'),
  v1: specOf(
    {
      name: text,
      size: { type: 'object', properties: { width: length, height: length }, additionalProperties: false },
      color: { type: 'string', default: 'red' },
    },
    'name',
  ),
};

const colorKey = 'gadgets.example/color';

/** The versions that v1alpha1 lacks values of keep them in an annotation. */
function alphaToBeta({ spec: { title, ...spec }, ...object }: Converted): object {
  const metadata = object['metadata'] as ResourceObject['metadata'];
  const { [colorKey]: color, ...annotations } = metadata.annotations ?? {};
  return {
    ...object,
    metadata: { ...metadata, annotations },
    spec: { name: title, ...spec, ...(color === undefined ? {} : { color }) },
  };
}

function betaToAlpha({ spec: { name, color, ...spec }, ...object }: Converted): object {
  const metadata = object['metadata'] as ResourceObject['metadata'];
  const annotations = { ...metadata.annotations, ...(color === undefined ? {} : { [colorKey]: color }) };
  return { ...object, metadata: { ...metadata, annotations }, spec: { title: name, ...spec } };
}

function betaToV1({ spec: { width, height, ...spec }, ...object }: Converted): object {
  const size = { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
  return { ...object, spec: { ...spec, ...(Object.keys(size).length === 0 ? {} : { size }) } };
}

function v1ToBeta({ spec: { size, ...spec }, ...object }: Converted): object {
  return { ...object, spec: { ...spec, ...(size as object | undefined) } };
}

export const gadget = {
  group: 'gadgets.example',
  version: 'v1',
  kind: 'Gadget',
  singular: 'gadget',
  plural: 'gadgets',
  schema: gadgetSchemas.v1,
  statusSubresource: true,
  indexes: [
    { name: 'spec.name', unique: true },
    { name: 'spec.size.width', type: 'number' },
  ],
  versions: [
    { name: 'v1alpha1', schema: gadgetSchemas.v1alpha1, deprecated: true, examples: [{ spec: { title: 'Lamp' } }] },
    { name: 'v1beta1', schema: gadgetSchemas.v1beta1, examples: [{ spec: { name: 'Lamp', width: 2, color: 'blue' } }] },
    { name: 'v1', examples: [{ spec: { name: 'Lamp', size: { width: 2, height: 3 }, color: 'green' } }] },
  ],
  convert: [
    { from: 'v1alpha1', to: 'v1beta1', up: alphaToBeta, down: betaToAlpha },
    { from: 'v1beta1', to: 'v1', up: betaToV1, down: v1ToBeta },
  ],
} as const;

export const author = { plugin: 'gadgets', bundled: false, domain: 'svc.run' };

/** Compiles a declaration that must be valid. */
export function compiled(declaration: unknown): ResourceType {
  const result = compileType(declaration, author);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.type;
}

export function problemsOf(declaration: unknown): readonly string[] {
  const result = compileType(declaration, author);
  return result.ok ? [] : result.problems;
}

/** The type in one of its served versions. */
export function inVersion(type: ResourceType, version: string): ResourceType {
  const found = type.versions?.served.find((one) => one.version === version);
  if (found === undefined) throw new Error(`${version} is not served`);
  return found;
}
