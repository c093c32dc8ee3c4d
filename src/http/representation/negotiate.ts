import { includesType, isPlainJson, parseAccept, type MediaRange } from '../body/accept-header.ts';
import { jsonType, yamlType } from '../body/media-types.ts';
import { problem, type ProblemResult } from '../problem.ts';

export type Shape = 'object' | 'metadata' | 'table';

/** The part of the object in each row of a table. */
export type IncludedObject = 'None' | 'Metadata' | 'Object';

export type Negotiated = {
  readonly shape: Shape;
  /** The version of `meta.k8s.io`. */
  readonly version: 'v1' | 'v1beta1';
  readonly include: IncludedObject;
};

export const plainObjects: Negotiated = { shape: 'object', version: 'v1', include: 'Metadata' };

/** The shared result for plain objects. */
export const asObjects = { ok: true, value: plainObjects } as const;

/**
 * Determines the form of objects from the Accept header and, for a table, from the query parameter `includeObject`. The
 * first supported range is used. Without a supported range, the form is plain objects.
 */
export function negotiate(
  accept: string | undefined,
  query: URLSearchParams,
): { readonly ok: true; readonly value: Negotiated } | ProblemResult {
  if (accept === undefined || isPlainJson(accept) || !transformForm.test(accept)) return asObjects;
  for (const range of parseAccept(accept)) {
    if (!includesType(range, jsonType) && range.type !== yamlType) continue;
    const asked = askedBy(range);
    if (asked === undefined) continue;
    if (asked.shape !== 'table') return { ok: true, value: asked };
    return tableOf(asked, query.get('includeObject') ?? '');
  }
  return { ok: true, value: plainObjects };
}

const transformForm = /as\s*=/iu;

/** Returns the form that a range requests; undefined if the form is not supported. */
function askedBy({ parameters }: MediaRange): Negotiated | undefined {
  const kind = parameters.get('as');
  if (kind === undefined || kind === '') return plainObjects;
  const version = parameters.get('v');
  const shape = shapes.get(kind);
  if (shape === undefined || parameters.get('g') !== 'meta.k8s.io') return undefined;
  return version === 'v1' || version === 'v1beta1' ? { shape, version, include: 'Metadata' } : undefined;
}

/**
 * The shapes by requested kind. The request determines whether the response is a list, so both kinds of metadata mean
 * the same shape.
 */
const shapes: ReadonlyMap<string, Shape> = new Map([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'metadata'],
  ['PartialObjectMetadataList', 'metadata'],
]);

function tableOf(asked: Negotiated, include: string): ReturnType<typeof negotiate> {
  if (include === '') return { ok: true, value: asked };
  if (include === 'None' || include === 'Metadata' || include === 'Object')
    return { ok: true, value: { ...asked, include } };
  const given = JSON.stringify(include.slice(0, 64));
  return { ok: false, problem: problem('bad-request', `includeObject: must be None, Metadata or Object, is ${given}`) };
}
