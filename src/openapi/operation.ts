import type { Schema } from '../resource/schema/schema-check.ts';
import type { Part } from './encoded.ts';
import type { GroupVersionKind } from './names.ts';

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
};

/** A body. All its media types have the same schema. */
export type Content = {
  readonly types: readonly string[];
  readonly schema: Schema;
};

export type Response = {
  /** A status, or `default`. */
  readonly status: string;
  readonly description: string;
  readonly content?: readonly Content[];
};

/** A method of a path, independent of the OpenAPI version. Schemas are in the dialect of the document. */
export type Operation = {
  readonly method: Method;
  /** The path, with parameters as `{name}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary?: string;
  readonly description?: string;
  /** `action` is Kubernetes' name for the verb. `kind` is the kind that the operation reads or writes. */
  readonly action?: string;
  /** The plugin of a custom route. */
  readonly plugin?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly body?: Content & { readonly required: boolean };
  readonly responses: readonly Response[];
};

export type Members = Readonly<Record<string, unknown>>;

export function pathItems(operations: readonly Operation[]): Generator<Part> {
  return itemsOf(operations, operationOf3);
}

/** Yields path items, one at a time. `form` converts an operation to its members in the document. */
export function* itemsOf(operations: readonly Operation[], form: (operation: Operation) => Members): Generator<Part> {
  const byPath = new Map<string, Operation[]>();
  for (const operation of operations) {
    const others = byPath.get(operation.path);
    if (others === undefined) byPath.set(operation.path, [operation]);
    else others.push(operation);
  }
  for (const [name, ofPath] of byPath) {
    const value = (): Members => Object.fromEntries(ofPath.map((operation) => [operation.method, form(operation)]));
    yield { name, sources: ofPath, value };
  }
}

export function commonMembers({ operationId, tag, summary, description, action, plugin, kind }: Operation): Members {
  return {
    tags: [tag],
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    operationId,
    ...(plugin === undefined ? {} : { 'x-ledgerplane-plugin': plugin }),
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': kind }),
  };
}

function operationOf3(operation: Operation): Members {
  const { parameters, body, responses } = operation;
  return {
    ...commonMembers(operation),
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterOf3) }),
    ...(body === undefined ? {} : { requestBody: { content: contentOf([body]), required: body.required } }),
    responses: Object.fromEntries(
      responses.map(({ status, description, content }) => [
        status,
        { description, ...(content === undefined ? {} : { content: contentOf(content) }) },
      ]),
    ),
  };
}

function parameterOf3({ name, in: place, required, description, schema }: Parameter): Members {
  return {
    name,
    in: place,
    ...(place === 'path' || required === true ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema,
  };
}

function contentOf(content: readonly Content[]): Members {
  return Object.fromEntries(content.flatMap(({ types, schema }) => types.map((type) => [type, { schema }])));
}
