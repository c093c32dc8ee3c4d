import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { applyObject, type ApplyDependencies } from './apply-object.ts';
import { isObject } from '../load/manifest.ts';
import type { PluginLogger } from '../api/plugin.ts';
import { yamlDocuments } from './yaml-documents.ts';

export type BuiltInRoles = ApplyDependencies & {
  /** Where their files lie: `roles` of the package. */
  readonly folder: string;
  /** The type of roles. */
  readonly type: ResourceType;
  readonly log: PluginLogger;
};

/**
 * The platform's own roles (decision 6.9), at every start: one that was deleted is there again, and what people changed stays
 * theirs, as with what a plugin ships. One that cannot be written is told and keeps no server from starting.
 */
export async function applyBuiltInRoles({ folder, type, log, ...dependencies }: BuiltInRoles): Promise<void> {
  for (const { name, object } of await readRoles(folder, type, dependencies.domain)) {
    const applied = await applyObject({ type, name, object, subject: { kind: 'platform', part: 'roles' }, plugin: 'platform', origin: 'platform' }, dependencies);
    if (!applied.ok) log.error('could not apply a built-in role', { role: name, detail: applied.detail });
    else if (applied.kept.length > 0) log.warn('a built-in role was changed by users and by this version: the change of the users is kept', { role: name, kept: applied.kept.join(', ') });
  }
}

type RoleFile = { readonly name: string; readonly object: JsonObject };

/** They are part of the program: one that cannot be read is a damaged package, and nothing to go on with. */
async function readRoles(folder: string, type: ResourceType, domain: string): Promise<readonly RoleFile[]> {
  const files = (await readdir(folder)).filter((file) => extname(file) === '.yaml').sort();
  const read = await Promise.all(files.map(async (file) => {
    const yaml = yamlDocuments(await readFile(join(folder, file), 'utf8'), domain);
    if (!yaml.ok) throw new Error(`the built-in roles are damaged: ${file}: ${yaml.problem}`);
    return yaml.documents.map((document) => roleIn(document, type) ?? damaged(file));
  }));
  return read.flat();
}

function roleIn(document: JsonValue, { apiVersion, kind }: ResourceType): RoleFile | undefined {
  if (!isObject(document) || document['apiVersion'] !== apiVersion || document['kind'] !== kind || !isObject(document['metadata'])) return undefined;
  const { name } = document['metadata'];
  return typeof name === 'string' ? { name, object: document } : undefined;
}

function damaged(file: string): never {
  throw new Error(`the built-in roles are damaged: ${file} holds a document that is not a role`);
}
