import { statSync } from 'node:fs';
import { resolve, sep } from 'node:path';

import { allowedHostProblem } from '../base/host-names.ts';
import type { Environment } from './environment.ts';
import { allowedHostsMax } from '../limits/settings.ts';
import { nameProblem } from '../resource/type/names.ts';
import { networkProblem, pathProblem, quote } from './setting-problems.ts';

/**
 * Reads variables and collects problems. Use the returned values only without problems, because some methods return
 * invalid values.
 */
export class Settings {
  readonly #environment: Environment;
  readonly #mistakes: string[];

  constructor(environment: Environment, mistakes: string[]) {
    this.#environment = environment;
    this.#mistakes = mistakes;
  }

  read(name: string, byDefault: string, problemOf: (value: string) => string | undefined): string {
    const value = this.#environment[name];
    if (value === undefined) return byDefault;
    const problem = problemOf(value);
    if (problem === undefined) return value;
    this.#mistakes.push(`${name} ${problem}`);
    return byDefault;
  }

  optional(name: string, problemOf: (value: string) => string | undefined): string | undefined {
    const value = this.read(name, '', problemOf);
    return value === '' ? undefined : value;
  }

  oneOf<Value extends string>(name: string, byDefault: Value, values: readonly Value[]): Value {
    const given = this.read(name, byDefault, (value) =>
      values.some((allowed) => allowed === value)
        ? undefined
        : `must be one of ${values.join(', ')}, is ${quote(value)}`,
    );
    return values.find((value) => value === given) ?? byDefault;
  }

  names(name: string, countMax: number): readonly string[] {
    const names = this.#list(name);
    if (names.length > countMax)
      this.#mistakes.push(`${name} must have at most ${countMax.toString()} names, has ${names.length.toString()}`);
    const wrong = names.find((entry) => nameProblem(entry) !== undefined);
    if (wrong !== undefined) this.#mistakes.push(`${name} contains ${quote(wrong)}, which is not a plugin name`);
    return names;
  }

  networks(name: string, countMax: number): readonly string[] {
    const networks = this.#list(name);
    if (networks.length > countMax) {
      this.#mistakes.push(`${name} must have at most ${countMax.toString()} ranges, has ${networks.length.toString()}`);
    }
    for (const entry of networks.slice(0, countMax)) {
      const problem = networkProblem(entry);
      if (problem !== undefined) this.#mistakes.push(`${name} contains ${quote(entry)}, which ${problem}`);
    }
    return networks;
  }

  /**
   * Returns the absolute path of a folder; undefined if the variable is not set. The folder must not be in `dataDir`,
   * because the folder's files must survive the loss of `dataDir`.
   */
  folderBeside(name: string, folder: string, dataDir: string): string | undefined {
    const value = this.optional(name, pathProblem);
    if (value === undefined) return undefined;
    const path = resolve(folder, value);
    if (`${path}${sep}`.startsWith(`${dataDir}${sep}`))
      this.#mistakes.push(`${name} must not be in DATA_DIR: it would be lost together with DATA_DIR`);
    return path;
  }

  hosts(name: string): readonly string[] {
    const hosts = this.#list(name);
    if (hosts.length > allowedHostsMax) {
      this.#mistakes.push(`${name} must have at most ${String(allowedHostsMax)} names, has ${String(hosts.length)}`);
    }
    for (const host of hosts) {
      const problem = allowedHostProblem(host);
      if (problem !== undefined) this.#mistakes.push(`${name} contains ${quote(host)}, ${problem}`);
    }
    return hosts.map((host) => host.replace(/\.(?=$|:\d+$)/u, ''));
  }

  #list(name: string): readonly string[] {
    return [
      ...new Set(
        (this.#environment[name] ?? '')
          .split(',')
          .map((entry) => entry.trim())
          .filter((entry) => entry !== ''),
      ),
    ];
  }

  folders(name: string, base: string): readonly string[] {
    const folders = [...new Set(this.#list(name).map((entry) => resolve(base, entry)))];
    for (const folder of folders) {
      if (!isFolder(folder)) this.#mistakes.push(`${name} names ${quote(folder)}, which is not a folder`);
    }
    return folders;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
