import type { ResourceType } from '../resource/type/resource-type.ts';
import { camelCase, referenceTo, schemaNameOf, tagOf, type GroupVersionKind } from './names.ts';
import type { Content, Operation, Parameter, Response } from './operation.ts';
import {
  continueParameters,
  deleteParameters,
  freshnessParameters,
  historyParameters,
  pastParameters,
  restoreParameters,
  nameParameter,
  selectionParameters,
  watchParameters,
  writeParameters,
} from './parameters.ts';
import { deleteOptions, objectHistory, patch, problemName, scaleKind, scaleName, status } from './standard-schemas.ts';

/** The media types of request bodies and of responses (`answer`). */
export type MediaTypes = {
  readonly object: readonly string[];
  /** The media types of deletion options and of reviews, which Go's typed clients send in protobuf. */
  readonly message: readonly string[];
  readonly patch: readonly string[];
  readonly answer: readonly string[];
};

export type Described = {
  readonly domain: string;
  readonly media: MediaTypes;
};

/** Describes a refusal in the two forms of decision 8: a Status in any of `types`, or a problem. */
export function refusalsIn(types: readonly string[]): Response {
  return {
    status: 'default',
    description: 'A refusal.',
    content: [
      { types, schema: referenceTo(status) },
      { types: ['application/problem+json'], schema: referenceTo(problemName) },
    ],
  };
}

/**
 * The description of the forms that clients request with `Accept`. The table and the metadata are described only in
 * this text. As media types of the response, they would change the result types of generated clients.
 */
const otherForms =
  'Available as a table with `Accept: application/json;as=Table;v=v1;g=meta.k8s.io`, and without spec and status ' +
  'with `as=PartialObjectMetadata`; also as `application/yaml`.';

/**
 * Returns all operations of a type's generated API, with the operation ids for a document that contains only this type.
 */
export function operationsOf(type: ResourceType, described: Described): readonly Operation[] {
  const at = new Place(type, described);
  return [
    at.list(),
    at.create(),
    at.deleteAll(),
    ...at.item(''),
    at.remove(),
    at.history(),
    at.restore(),
    ...(type.statusSubresource ? at.item('status') : []),
    ...(type.scale === undefined ? [] : at.scaled().item('scale')),
  ];
}

type Kind = Pick<Operation, 'action' | 'summary' | 'description' | 'parameters' | 'body' | 'responses'>;

/** The objects that the operations of a `Place` return: the name of their schema, and their kind. */
type Shown = {
  readonly schema: string;
  readonly kind: GroupVersionKind;
};

function shownAs(type: ResourceType, { domain }: Described): Shown {
  const { group, version, kind } = type;
  return { schema: schemaNameOf(type, domain), kind: { group, version, kind } };
}

class Place {
  readonly #type: ResourceType;
  readonly #described: Described;
  readonly #object: Content;
  readonly #kind: GroupVersionKind;

  constructor(type: ResourceType, described: Described, shown: Shown = shownAs(type, described)) {
    this.#type = type;
    this.#described = described;
    this.#kind = shown.kind;
    this.#object = { types: described.media.object, schema: referenceTo(shown.schema) };
  }

  /** Returns a place of the same type, with Scales instead of the objects. */
  scaled(): Place {
    return new Place(this.#type, this.#described, { schema: scaleName, kind: scaleKind });
  }

  list(): Operation {
    const { kind, plural } = this.#type;
    const list = referenceTo(`${schemaNameOf(this.#type, this.#described.domain)}List`);
    return this.#operation('get', `list${kind}`, {
      action: 'list',
      summary: `List or watch ${plural}`,
      description: otherForms,
      parameters: [
        ...selectionParameters,
        ...continueParameters,
        ...freshnessParameters,
        ...pastParameters,
        ...watchParameters,
      ],
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

  history(): Operation {
    const { kind, plural } = this.#type;
    return this.#operation(
      'get',
      `get${kind}History`,
      {
        action: 'get',
        summary: `Get the events of the ${plural} that had this name`,
        parameters: [...historyParameters, ...continueParameters, ...freshnessParameters],
        responses: this.#answers('200', 'The events, with their causes and changes.', {
          types: this.#described.media.answer,
          schema: referenceTo(objectHistory),
        }),
      },
      '/{name}/history',
    );
  }

  restore(): Operation {
    const { kind } = this.#type;
    return this.#operation(
      'post',
      `restore${kind}`,
      {
        action: 'post',
        summary: `Restore the state of a ${kind} at a moment`,
        description:
          'Restores labels, annotations and all members except the status. Returns 201 if the object had been deleted.',
        parameters: [...restoreParameters, ...writeParameters],
        responses: this.#answers('200', 'The object.'),
      },
      '/{name}/restore',
    );
  }

  /** Returns the operations that get, replace and patch an object or a subresource. */
  item(subresource: string): readonly Operation[] {
    const { kind } = this.#type;
    const [suffix, path] = subresource === '' ? ['', '/{name}'] : [camelCase(subresource), `/{name}/${subresource}`];
    const what = subresource === '' ? `a ${kind}` : `the ${subresource} of a ${kind}`;
    const object = this.#answers('200', 'The object.');
    const changes = {
      types: this.#described.media.patch,
      schema: referenceTo(patch),
      required: true,
    };
    const read: Kind = {
      action: 'get',
      summary: `Get ${what}`,
      ...(subresource === 'scale' ? {} : { description: otherForms }),
      parameters: subresource === '' ? [...freshnessParameters, ...pastParameters] : freshnessParameters,
      responses: object,
    };
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
    const parameters: readonly Parameter[] = path === '' ? kind.parameters : [nameParameter, ...kind.parameters];
    return {
      ...kind,
      method,
      path: `${this.#type.path}${path}`,
      operationId: id,
      tag: tagOf(this.#type),
      kind: this.#kind,
      parameters,
    };
  }

  #deletion(): Content & { readonly required: boolean } {
    return {
      types: this.#described.media.message,
      schema: referenceTo(deleteOptions),
      required: false,
    };
  }

  #answers(code: string, description: string, content?: Content): readonly Response[] {
    const { answer } = this.#described.media;
    const object = { types: answer, schema: this.#object.schema };
    return [{ status: code, description, content: [content ?? object] }, refusalsIn(answer)];
  }
}
