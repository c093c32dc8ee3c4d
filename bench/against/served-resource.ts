/** A resource of a server with the Kubernetes API, as named by the path of its collection. */
export type ServedResource = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** The namespace of the objects; undefined for a cluster-scoped resource. */
  readonly namespace: string | undefined;
};

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const form = new RegExp(
  `^/apis/(?<group>${label}(?:\\.${label})+)/(?<version>${label})/(?:namespaces/(?<namespace>${label})/)?` +
    `(?<plural>${label})$`,
  'u',
);

/**
 * Decodes the path of a collection.
 *
 * @throws RangeError for any other path, with a message that describes the expected form.
 */
export function decodeResourcePath(path: string): ServedResource {
  const { group, version, plural, namespace } = form.exec(path)?.groups ?? {};
  if (group === undefined || version === undefined || plural === undefined)
    throw new RangeError(
      `${JSON.stringify(path)} is not the path of a collection: /apis/GROUP/VERSION/PLURAL or ` +
        '/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL, with a dot in the group',
    );
  return { group, version, plural, namespace };
}
