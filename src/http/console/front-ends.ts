import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';

import {
  frontEndModule,
  frontEndStyles,
  webEncodings,
  webTypes,
  type FrontEnd,
  type FrontEndMounts,
} from '../../plugin/api/front-end.ts';
import { jsonAnswer } from '../answer.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { platformApiVersion } from '../platform/platform-type.ts';
import { tagOf, type EncodedFile } from './encoded-file.ts';

/** The place of a file in the addresses `/console/plugins/<plugin>/<digest>/<name>`. */
export type FrontEndPlace = { readonly plugin: string; readonly digest: string; readonly name: string };

/** A front end, as the console's page reads it. The addresses change whenever a file changes. */
export type ListedFrontEnd = {
  readonly plugin: string;
  readonly version: string;
  /** The address of the module. */
  readonly module: string;
  /** The address of the style sheet; absent without one. */
  readonly styles?: string;
};

type Mounted = {
  readonly version: string;
  readonly frontEnd: FrontEnd;
  /** The requested files, by name with the extension of the encoding: at most the whole front end. */
  readonly loaded: Map<string, Promise<EncodedFile | undefined>>;
};

/**
 * Returns the place that the segments of a path name. The console's own pages of plugins, such as
 * `/console/plugins/<plugin>/logs`, have fewer segments.
 */
export function frontEndPlace(segments: readonly string[]): FrontEndPlace | undefined {
  const [console, plugins, plugin, digest, ...names] = segments;
  if (console !== 'console' || plugins !== 'plugins' || plugin === undefined || digest === undefined) return undefined;
  return names.length === 0 ? undefined : { plugin, digest, name: names.join('/') };
}

/** The front ends of the started plugins of this node, and their files. */
export class FrontEnds implements FrontEndMounts {
  readonly #mounted = new Map<string, Mounted>();

  mount(plugin: string, version: string | undefined, frontEnd: FrontEnd): void {
    this.#mounted.set(plugin, { version: version ?? '', frontEnd, loaded: new Map() });
  }

  unmount(plugin: string): void {
    this.#mounted.delete(plugin);
  }

  /** Returns the front ends, sorted by the plugins' names. */
  list(): readonly ListedFrontEnd[] {
    return [...this.#mounted]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(
        ([
          plugin,
          {
            version,
            frontEnd: { digest, files },
          },
        ]) => {
          const folder = `/console/plugins/${plugin}/${digest}`;
          const styles = files.has(frontEndStyles) ? { styles: `${folder}/${frontEndStyles}` } : {};
          return { plugin, version, module: `${folder}/${frontEndModule}`, ...styles };
        },
      );
  }

  /**
   * Resolves with a file in the most compact encoding that the client accepts. Resolves with undefined for an unknown
   * file, for another version, and for a file that has changed since its plugin started.
   */
  async find(
    { plugin, digest, name }: FrontEndPlace,
    accepts: (encoding: string) => boolean,
  ): Promise<EncodedFile | undefined> {
    const mounted = this.#mounted.get(plugin);
    const type = webTypes.get(extname(name));
    if (mounted?.frontEnd.digest !== digest || type === undefined || !mounted.frontEnd.files.has(name))
      return undefined;
    const { files } = mounted.frontEnd;
    const chosen = webEncodings.find(({ name: each, extension }) => files.has(name + extension) && accepts(each));
    return load(mounted, name + (chosen?.extension ?? ''), { type, encoding: chosen?.name });
  }
}

async function load(
  { frontEnd, loaded }: Mounted,
  name: string,
  form: Pick<EncodedFile, 'type' | 'encoding'>,
): Promise<EncodedFile | undefined> {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const file = frontEnd.files.get(name);
  const loading =
    file === undefined
      ? Promise.resolve(undefined)
      : readFile(file.path).then(
          (bytes) =>
            hash('sha256', bytes) === file.sha256 ? { ...form, bytes, etag: tagOf(bytes), isHashed: true } : undefined,
          () => undefined,
        );
  loaded.set(name, loading);
  return loading;
}

/** Creates the route of the list of front ends. It requires the right `list` on `frontends`, which all users have. */
export function frontEndRoutes(domain: string, frontEnds: FrontEnds): readonly PlatformRoute[] {
  return [
    {
      method: 'GET',
      path: `/apis/api.console.${domain}/${platformApiVersion}/frontends`,
      route: () => jsonAnswer({ items: frontEnds.list() }),
    },
  ];
}
