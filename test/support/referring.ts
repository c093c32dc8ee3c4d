import type { Test } from 'tap';

import type { WriteContext, WriteOutcome } from '../../src/command/command.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { streamName } from '../../src/log/log.ts';
import type { HeldReference } from '../../src/resource/references/named-targets.ts';
import type { ReferenceDeclaration } from '../../src/resource/references/reference-declaration.ts';
import type { JsonObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { compileType } from '../../src/resource/type/type-declaration.ts';
import { create, merge, remove } from './given.ts';
import { idOf } from './id-of.ts';
import { domain } from './sample.ts';
import { Writing, type WritingOptions } from './writing.ts';

/** A group that links name in `spec.group` and, as a list, in `spec.groups`. */
const declaration = (plural: string, kind: string): object => ({
  group: 'example.com',
  version: 'v1',
  kind,
  singular: kind.toLowerCase(),
  plural,
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          title: { type: 'string' },
          group: { type: 'string' },
          groups: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  },
});

export type Policy = Pick<ReferenceDeclaration, 'onMissing' | 'onDelete'>;

function compiled(given: object): ResourceType {
  const type = compileType(given, { plugin: 'example', bundled: false, domain });
  if (!type.ok) throw new Error(type.problems.join('\n'));
  return type.type;
}

export const groups = compiled(declaration('groups', 'Group'));

export function linkType(policy: Policy, to = 'groups.example.com'): ResourceType {
  const references = ['spec.group', 'spec.groups'].map((field) => ({ field, to, ...policy }));
  return compiled({ ...declaration('links', 'Link'), references });
}

export function fileType(policy: Policy): ResourceType {
  return compiled({
    ...declaration('files', 'File'),
    references: [{ field: 'spec.group', to: 'links.example.com', ...policy }],
  });
}

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'declare',
  requestId: 'r',
  $correlationId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
};

/** The write door with groups, and with links that name groups. Both are declared in the log. */
export class ReferringWriting {
  readonly writing: Writing;
  readonly #types: readonly ResourceType[];

  private constructor(writing: Writing, types: readonly ResourceType[]) {
    this.writing = writing;
    this.#types = types;
  }

  static async open(
    t: Test,
    types: readonly ResourceType[],
    options: Omit<WritingOptions, 'type' | 'others'> = {},
  ): Promise<ReferringWriting> {
    const writing = await Writing.open(t, { ...options, type: groups, others: types });
    for (const type of [groups, ...types]) await declareInLog(writing, type);
    return new ReferringWriting(writing, [groups, ...types]);
  }

  make(kind: string, name: string, spec: JsonObject = {}, more: Partial<WriteContext> = {}): Promise<WriteOutcome> {
    return this.writing.write(create({ metadata: { name }, spec }), { type: this.typeOf(kind), ...more });
  }

  change(kind: string, name: string, document: JsonObject): Promise<WriteOutcome> {
    return this.writing.write(merge(document, { name }), { type: this.typeOf(kind) });
  }

  delete(kind: string, name: string, more: Partial<WriteContext> = {}): Promise<WriteOutcome> {
    return this.writing.write(remove({}, name), { type: this.typeOf(kind), ...more });
  }

  typeOf(kind: string): ResourceType {
    const type = this.#types.find((each) => each.singular === kind);
    if (type === undefined) throw new Error(`no type ${kind}`);
    return type;
  }

  references(kind: string, name: string): readonly HeldReference[] {
    return this.writing.models.references.of(this.typeOf(kind).key, name);
  }

  exists(kind: string, name: string): boolean {
    return this.writing.models.get(this.typeOf(kind).key, name) !== undefined;
  }
}

export async function declareInLog(
  { log, models }: Writing,
  { key, declaration: declared }: ResourceType,
): Promise<void> {
  if (declared === undefined) throw new Error('a type for tests only');
  const stream = streamName(`type:${key}`);
  const last = await log.readLast(stream);
  const event = encodeEvent(idOf(`declared ${key}`), { type: 'TypeDeclared', ...declared }, metadata);
  const appended = await log.append(stream, [event], last?.revision ?? 'absent');
  if (!appended.ok) throw new Error(appended.reason);
  await models.reached(appended.position, { timeoutMs: 10_000 });
}
