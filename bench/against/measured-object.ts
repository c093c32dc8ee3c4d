import type { ServedResource } from './served-resource.ts';

export const measuredKind = 'Widget';
/** The label of all objects that the bench creates, by which `removeAll` selects them. */
export const measuredLabel = 'ledgerplane-bench';

const note =
  'Objects of this kind have a text of some length, as people write them now and then, so that a response has the ' +
  'typical size; labels are too short for that on every server.';
const tag = 'a-tag-of-some-length-as-people-do-write-them-now-and-then';

export type MeasuredPlaces = {
  readonly name: string;
  readonly size: string;
  readonly title: string;
  /** The resourceVersion that an update requires. */
  readonly resourceVersion?: string;
};

/** Returns the JSON of an object of about 700 bytes. The values may be placeholders of a request template. */
export function measuredObject(
  resource: ServedResource,
  { name, size, title, resourceVersion }: MeasuredPlaces,
): string {
  const precondition = resourceVersion === undefined ? '' : `"resourceVersion":"${resourceVersion}",`;
  const metadata =
    `{"name":"${name}",${precondition}"labels":{"${measuredLabel}":"true"},` +
    `"annotations":{"${measuredLabel}":"${note}"}}`;
  const spec = `{"title":"${title}","size":${size},"tags":["${tag}-gold","${tag}-measured"]}`;
  const type = `"apiVersion":"${resource.group}/${resource.version}","kind":"${measuredKind}"`;
  return `{${type},"metadata":${metadata},"spec":${spec}}`;
}

/**
 * Returns the CustomResourceDefinition of the resource, as YAML. The definition has the same rules as the type with
 * which this build is measured.
 */
export function definitionOf({ group, version, plural, namespace }: ServedResource): string {
  const scope = namespace === undefined ? 'Cluster' : 'Namespaced';
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.${group}
spec:
  group: ${group}
  scope: ${scope}
  names:
    kind: ${measuredKind}
    listKind: ${measuredKind}List
    plural: ${plural}
    singular: ${measuredKind.toLowerCase()}
  versions:
    - name: ${version}
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              required: [title]
              properties:
                title: { type: string, minLength: 1, maxLength: 100 }
                size: { type: integer, minimum: 0, maximum: 1000 }
                tags: { type: array, maxItems: 50, items: { type: string, minLength: 1, maxLength: 100 } }
`;
}
