import { frontEndModule, frontEndStyles, type FrontEnd, type FrontEndMounts } from '../../plugin/api/front-end.ts';
import { jsonAnswer } from '../answer.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { platformApiVersion } from '../platform/platform-type.ts';
import type { EncodedFile } from './encoded-file.ts';
import type { KeptFiles } from './kept-files.ts';

/** The place of a file in the addresses `/console/plugins/<plugin>/<digest>/<name>`. */
export type FrontEndPlace = { readonly plugin: string; readonly digest: string; readonly name: string };

/** A front end in the response that the console's page reads. The addresses change whenever a file changes. */
export type ListedFrontEnd = {
  readonly plugin: string;
  readonly version: string;
  /** The address of the module. */
  readonly module: string;
  /** The address of the style sheet; absent if the front end has no style sheet. */
  readonly styles?: string;
};

type Mounted = { readonly version: string; readonly frontEnd: FrontEnd };

/**
 * Returns the place in a path's segments; undefined for any other path. The console's own pages about plugins, such as
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
  /** The files in memory, including the console's own files. */
  readonly kept: KeptFiles;

  constructor(kept: KeptFiles) {
    this.kept = kept;
  }

  mount(plugin: string, version: string | undefined, frontEnd: FrontEnd): void {
    this.unmount(plugin);
    this.#mounted.set(plugin, { version: version ?? '', frontEnd });
  }

  unmount(plugin: string): void {
    this.#mounted.delete(plugin);
    this.kept.drop(`${plugin}/`);
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
   * file, an outdated digest, and a file that has changed since its plugin started.
   */
  async find(
    { plugin, digest, name }: FrontEndPlace,
    accepts: (encoding: string) => boolean,
  ): Promise<EncodedFile | undefined> {
    const frontEnd = this.#mounted.get(plugin)?.frontEnd;
    if (frontEnd?.digest !== digest) return undefined;
    return this.kept.find({ folder: `${plugin}/${digest}/`, files: frontEnd.files, name, accepts, isHashed: true });
  }
}

/**
 * Creates the route that lists the front ends. A caller needs the right `list` on `frontends`, which all users have.
 */
export function frontEndRoutes(domain: string, frontEnds: FrontEnds): readonly PlatformRoute[] {
  return [
    {
      method: 'GET',
      path: `/apis/api.console.${domain}/${platformApiVersion}/frontends`,
      route: () => jsonAnswer({ items: frontEnds.list() }),
    },
  ];
}
