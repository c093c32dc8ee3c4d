import type { ResourceType } from '../resource/type/resource-type.ts';
import { camelCase, referenceTo, schemaNameOf, tagOf, type UniqueNames } from './names.ts';
import type { Content, Operation, Parameter, Response } from './operation.ts';
import {
  continueParameters,
  deleteParameters,
  freshnessParameters,
  nameParameter,
  selectionParameters,
  watchParameters,
  writeParameters,
} from './parameters.ts';
import { deleteOptions, patch, problemName, status } from './standard-schemas.ts';

/** The media types of bodies, as the server reads and writes them. */
export type MediaTypes = {
  readonly object: readonly string[];
  readonly patch: readonly string[];
  readonly answer: readonly string[];
};

export type Described = {
  readonly domain: string;
  readonly media: MediaTypes;
  /** Operation ids of the document. */
  readonly ids: UniqueNames;
};

/** A refusal, in the two forms of decision 8. */
export const refusals: Response = {
  status: 'default',
  description: 'A refusal.',
  content: [
    { types: ['application/json'], schema: referenceTo(status) },
    { types: ['application/problem+json'], schema: referenceTo(problemName) },
  ],
};

/** Every operation of a type's generated API. */
export function operationsOf(type: ResourceType, described: Described): readonly Operation[] {
  const at = new Place(type, described);
  return [
    at.list(),
    at.create(),
    at.deleteAll(),
    ...at.item(''),
    at.remove(),
    ...(type.statusSubresource ? at.item('status') : []),
  ];
}

type Kind = Pick<Operation, 'action' | 'summary' | 'parameters' | 'body' | 'responses'>;

class Place {
  readonly #type: ResourceType;
  readonly #described: Described;
  readonly #object: Content;

  constructor(type: ResourceType, described: Described) {
    this.#type = type;
    this.#described = described;
    this.#object = { types: described.media.object, schema: referenceTo(schemaNameOf(type, described.domain)) };
  }

  list(): Operation {
    const { kind, plural } = this.#type;
    const list = referenceTo(`${schemaNameOf(this.#type, this.#described.domain)}List`);
    return this.#operation('get', `list${kind}`, {
      action: 'list',
      summary: `List or watch ${plural}`,
      parameters: [...selectionParameters, ...continueParameters, ...freshnessParameters, ...watchParameters],
      responses: this.#answers('200', 'The objects.', { types: this.#described.media.answer, schema: list }),
    });
  }

  create(): Operation {
    const { kind } = this.#type;
    return this.#operation('post', `create${kind}`, {
      action: 'post',
      summary: `Create a ${kind}`,
      parameters: writeParameters,
      body: { ...this.#object, required: true },
      responses: this.#answers('201', 'The created object.'),
    });
  }

  deleteAll(): Operation {
    const { kind, plural } = this.#type;
    const list = referenceTo(`${schemaNameOf(this.#type, this.#described.domain)}List`);
    return this.#operation('delete', `delete${kind}Collection`, {
      action: 'deletecollection',
      summary: `Delete the ${plural} that the selectors match`,
      parameters: [...selectionParameters.slice(0, 2), ...deleteParameters],
      body: this.#deletion(),
      responses: this.#answers('200', 'The deleted objects.', { types: this.#described.media.answer, schema: list }),
    });
  }

  remove(): Operation {
    const { kind } = this.#type;
    return this.#operation(
      'delete',
      `delete${kind}`,
      {
        action: 'delete',
        summary: `Delete a ${kind}`,
        parameters: deleteParameters,
        body: this.#deletion(),
        responses: this.#answers('200', 'The last state of the object, with its deletionTimestamp.'),
      },
      '/{name}',
    );
  }

  /** Reading, replacing and patching an object or one of its subresources. */
  item(subresource: string): readonly Operation[] {
    const { kind } = this.#type;
    const [suffix, path] = subresource === '' ? ['', '/{name}'] : [camelCase(subresource), `/{name}/${subresource}`];
    const what = subresource === '' ? `a ${kind}` : `the ${subresource} of a ${kind}`;
    const object = this.#answers('200', 'The object.');
    const changes = { types: this.#described.media.patch, schema: referenceTo(patch), required: true };
    const read: Kind = { action: 'get', summary: `Get ${what}`, parameters: freshnessParameters, responses: object };
    const put: Kind = {
      action: 'put',
      summary: `Replace ${what}`,
      parameters: writeParameters,
      body: { ...this.#object, required: true },
      responses: object,
    };
    const patched: Kind = {
      action: 'patch',
      summary: `Patch ${what}`,
      parameters: writeParameters,
      body: changes,
      responses: object,
    };
    return [
      this.#operation('get', `get${kind}${suffix}`, read, path),
      this.#operation('put', `update${kind}${suffix}`, put, path),
      this.#operation('patch', `patch${kind}${suffix}`, patched, path),
    ];
  }

  #operation(method: Operation['method'], id: string, kind: Kind, path = ''): Operation {
    const { group, version } = this.#type;
    const parameters: readonly Parameter[] = path === '' ? kind.parameters : [nameParameter, ...kind.parameters];
    return {
      ...kind,
      method,
      path: `${this.#type.path}${path}`,
      operationId: this.#described.ids.take(id, `${camelCase(group)}${camelCase(version)}`),
      tag: tagOf(this.#type),
      kind: { group, version, kind: this.#type.kind },
      parameters,
    };
  }

  #deletion(): Content & { readonly required: boolean } {
    return { types: this.#described.media.object, schema: referenceTo(deleteOptions), required: false };
  }

  #answers(code: string, description: string, content?: Content): readonly Response[] {
    const object = { types: this.#described.media.answer, schema: this.#object.schema };
    return [{ status: code, description, content: [content ?? object] }, refusals];
  }
}
