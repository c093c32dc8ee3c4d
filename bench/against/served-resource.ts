/** A resource of a server with Kubernetes' API, as its path names it. */
export type ServedResource = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** The namespace of the objects; undefined if the resource has the scope of the cluster. */
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
 * @throws RangeError for another path, with the form that is expected.
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
