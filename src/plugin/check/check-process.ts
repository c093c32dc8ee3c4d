import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { isObject } from '../../base/guards.ts';
import { checkProcessMs } from '../../limits/plugins.ts';
import type { PluginFolder } from '../folders/plugin-folder.ts';
import { installModuleHooks } from '../load/load-module.ts';
import { runInProcess } from '../load/module-process.ts';
import { yamlDocuments } from '../objects/yaml-documents.ts';
import { checkFrontEnd, checkManifest, checkObjectFiles, type Platform } from './check-files.ts';
import { checkModule } from './check-module.ts';
import { checkObjects } from './check-objects.ts';
import { checkReferences } from './check-references.ts';
import { checkRoles } from './check-roles.ts';
import type { PluginProblem } from './plugin-problem.ts';

export type CheckStart = {
  readonly checkOf: PluginFolder;
  readonly platform: Platform;
};

/**
 * A message of the process. `problems`: the problems that one step of the check has found. `begins`: the plugin's
 * module runs next. `ended`: the check is complete.
 */
export type CheckMessage = { readonly problems: readonly PluginProblem[] } | 'begins' | 'ended';

export const checkProcessUrl: string = import.meta.url;

/** The folder of the built-in roles, relative to the compiled file dist/src/plugin/check/check-process.js. */
const builtInRoles = resolve(import.meta.dirname, '../../../../roles');

async function run({ checkOf: folder, platform }: CheckStart): Promise<void> {
  await check(folder, platform);
  send('ended');
}

async function check(folder: PluginFolder, platform: Platform): Promise<void> {
  const { domain } = platform;
  const { manifest, problems } = await checkManifest(folder, platform);
  send({ problems });
  if (manifest === undefined) return;
  const { name: plugin } = manifest;
  const files = await checkObjectFiles(folder, plugin, domain);
  send({ problems: files.problems });
  send({ problems: await checkFrontEnd(folder, manifest) });
  installModuleHooks();
  send('begins');
  const module = await checkModule({ folder, manifest, domain });
  send({ problems: module.problems });
  if (module.definition === undefined) return;
  const { types, definition: endpoints } = module;
  // The objects and rules of an invalid type would cause further problems, which would hide the problem of the type.
  if (types.length < endpoints.types.length) return;
  send({ problems: checkObjects(files.objects, { plugin, domain, types }) });
  send({ problems: checkReferences(files.objects, types) });
  const otherRoles = await rolesOfPlatform(domain);
  const hasDependencies = manifest.dependencies.size > 0;
  send({
    problems: checkRoles(files.objects, { plugin, domain, types, endpoints, otherRoles, hasDependencies }),
  });
}

async function rolesOfPlatform(domain: string): Promise<readonly string[]> {
  const files = await readdir(builtInRoles);
  const read = await Promise.all(
    files.map(async (file) => {
      const yaml = yamlDocuments(await readFile(resolve(builtInRoles, file), 'utf8'), domain);
      return yaml.ok ? yaml.documents.flatMap((document) => nameIn(document) ?? []) : [];
    }),
  );
  return read.flat();
}

function nameIn(document: unknown): string | undefined {
  const metadata = isObject(document) ? document['metadata'] : undefined;
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function send(message: CheckMessage): void {
  process.send?.(message);
}

function isStart(start: unknown): start is CheckStart {
  return isObject(start) && 'checkOf' in start;
}

await runInProcess({ url: checkProcessUrl, limitMs: checkProcessMs, isStart, run });
