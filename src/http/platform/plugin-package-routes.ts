import type { Clock } from '../../base/clock.ts';
import type { Cause } from '../../command/event.ts';
import type { Rejection } from '../../command/rejection.ts';
import type { Subject } from '../../command/subject.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { bytesAnswer, refusal, takenOver, type Answer } from '../answer.ts';
import { etagOf } from '../resources/conditional-requests.ts';
import { writeContext } from '../resources/decode-write.ts';
import type { Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { platformApiVersion } from './platform-type.ts';
import { problem, problemOf, type Problem } from '../problem.ts';
import { readUpload } from '../body/read-upload.ts';
import { uploadsMax } from '../plugin-routes/route-limits.ts';

export type Installed =
  | {
      readonly ok: true;
      readonly name: string;
      readonly plugin: { readonly bytes: Uint8Array; readonly revision: number };
    }
  | { readonly ok: false; readonly rejection: Rejection };

/** `subject` and `cause` identify the caller. With `dryRun`, the package is only checked. */
type InstallRequest = {
  readonly subject: Subject;
  readonly cause: Cause;
  readonly dryRun: boolean;
};

export type PluginInstaller = {
  install(archive: Uint8Array, request: InstallRequest): Promise<Installed>;
  upgrade(name: string, archive: Uint8Array, request: InstallRequest): Promise<Installed>;
};

export type PluginPackageRoutesDependencies = {
  readonly domain: string;
  readonly pluginType: () => ResourceType;
  readonly installer: PluginInstaller;
  readonly archiveBytesMax: number;
  /** The most concurrent installs and upgrades. Uploads are counted separately. */
  readonly installsMax: number;
  readonly clock: Clock;
  /** Returns the reason why plugins cannot be installed yet; undefined if plugins can be installed. */
  readonly unready: () => string | undefined;
  /** Returns a refusal if the contents of an archive of this size may not fit on the disk. */
  readonly noRoom: (archiveBytes: number) => Problem | undefined;
};

/**
 * Creates the routes for packages of plugins. An install requires the verb `create` on its path (`nonResourceURLs`). An
 * upgrade requires the verb `create` on `plugins/upgrade`. Packages run code with all rights of the server.
 */
export function pluginPackageRoutes(dependencies: PluginPackageRoutesDependencies): readonly PlatformRoute[] {
  const { domain, installer } = dependencies;
  const path = `/apis/api.console.${domain}/${platformApiVersion}/plugins`;
  const location = (name: string): string => `/apis/plugin.${domain}/${platformApiVersion}/plugins/${name}`;
  const uploads = new Uploads(dependencies);
  return [
    {
      method: 'POST',
      path: `${path}/install`,
      route: async (_params, exchange) =>
        uploads.take(
          exchange,
          async (archive, request) => installer.install(archive, request),
          ({ name }) => ({ status: 201, headers: ['Location', location(name)] }),
        ),
    },
    {
      method: 'POST',
      path: `${path}/{name}/upgrade`,
      route: async ({ name = '' }, exchange) =>
        uploads.take(
          exchange,
          async (archive, request) => installer.upgrade(name, archive, request),
          () => ({ status: 200, headers: [] }),
        ),
    },
  ];
}

type Use = (archive: Uint8Array, request: InstallRequest) => Promise<Installed>;

type ToAnswer = (installed: Extract<Installed, { ok: true }>) => {
  readonly status: number;
  readonly headers: readonly string[];
};

class Uploads {
  readonly #dependencies: PluginPackageRoutesDependencies;
  /** Uploads have separate slots, so that slow uploads do not block installs. */
  readonly #arriving: UploadSlots;
  readonly #installing: UploadSlots;

  constructor(dependencies: PluginPackageRoutesDependencies) {
    this.#dependencies = dependencies;
    this.#arriving = new UploadSlots(uploadsMax, 'being uploaded');
    this.#installing = new UploadSlots(dependencies.installsMax, 'being installed');
  }

  async take(exchange: Exchange, use: Use, answer: ToAnswer): Promise<Answer> {
    const { archiveBytesMax, clock, unready, noRoom, pluginType } = this.#dependencies;
    const context = writeContext(exchange);
    if (!context.ok) return refusal(context.problem);
    const waits = unready();
    if (waits !== undefined) return refusal(problem('unavailable', waits, { retryAfterSeconds: 1 }));
    // Checks the limits before the upload, so that a client does not upload megabytes for a refusal.
    if (this.#installing.areTaken) return this.#installing.refusal();
    const short = noRoom(0);
    if (short !== undefined) return refusal(short);
    const body = await this.#arriving.within(async () =>
      readUpload(exchange.req, { field: 'file', bytesMax: archiveBytesMax, clock }),
    );
    if (body === undefined) return this.#arriving.refusal();
    if (!body.ok) return body.problem === undefined ? takenOver : refusal(body.problem);
    const installed = await this.#installing.within(
      async (): Promise<Installed | Problem> => noRoom(body.value.length) ?? use(body.value, context.value),
    );
    if (installed === undefined) return this.#installing.refusal();
    return 'ok' in installed ? answered(installed, pluginType(), answer) : refusal(installed);
  }
}

function answered(installed: Installed, type: ResourceType, answer: ToAnswer): Answer {
  if (!installed.ok) return refusal(problemOf(installed.rejection, { kind: 'Plugin' }));
  const { status, headers } = answer(installed);
  return bytesAnswer(installed.plugin.bytes, status, ['ETag', etagOf(installed.plugin.revision, type), ...headers]);
}

/** Limits the number of concurrent uploads or installs, without a queue. */
class UploadSlots {
  readonly #max: number;
  readonly #doing: string;
  #used = 0;

  constructor(max: number, doing: string) {
    this.#max = max;
    this.#doing = doing;
  }

  get areTaken(): boolean {
    return this.#used >= this.#max;
  }

  refusal(): Answer {
    return refusal(
      problem('too-many-requests', `${String(this.#max)} packages are already ${this.#doing}, which is the limit`, {
        retryAfterSeconds: 2,
      }),
    );
  }

  /** Returns undefined if all slots are taken. */
  async within<T>(step: () => Promise<T>): Promise<T | undefined> {
    if (this.areTaken) return undefined;
    this.#used += 1;
    try {
      return await step();
    } finally {
      this.#used -= 1;
    }
  }
}
