import { includesType, isPlainJson, parseAccept, type MediaRange } from '../body/accept-header.ts';
import { jsonType, yamlType } from '../body/media-types.ts';
import { problem, type Problem } from '../problem.ts';

export type Shape = 'object' | 'metadata' | 'table';

/** The part of its object that each row of a table contains. */
export type IncludedObject = 'None' | 'Metadata' | 'Object';

export type Negotiated = {
  readonly shape: Shape;
  /** The version of `meta.k8s.io` of a table or of bare metadata. */
  readonly version: 'v1' | 'v1beta1';
  readonly include: IncludedObject;
};

export const plainObjects: Negotiated = { shape: 'object', version: 'v1', include: 'Metadata' };

/** The shared result for requests without another form, which saves an allocation. */
export const asObjects = { ok: true, value: plainObjects } as const;

/**
 * The form of objects that a request asks for, by its Accept header, and for a table by `includeObject`. The first
 * range that can be served decides. Without such a range the response is JSON objects, so no Accept header is refused.
 */
export function negotiate(
  accept: string | undefined,
  query: URLSearchParams,
): { readonly ok: true; readonly value: Negotiated } | { readonly ok: false; readonly problem: Problem } {
  // The usual case, which needs no parsing.
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

/** The form that a range asks for; undefined for a form that is not served. */
function askedBy({ parameters }: MediaRange): Negotiated | undefined {
  const kind = parameters.get('as');
  if (kind === undefined || kind === '') return plainObjects;
  const version = parameters.get('v');
  const shape = shapes.get(kind);
  if (shape === undefined || parameters.get('g') !== 'meta.k8s.io') return undefined;
  return version === 'v1' || version === 'v1beta1' ? { shape, version, include: 'Metadata' } : undefined;
}

/** Clients name the list's kind for a list, and the object's kind for a watch; the path decides between them. */
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
