import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { Watching } from '../support/watching.ts';
import { adminAuthorization, type TestServer } from '../support/server/start-server.ts';

export const installPath = '/apis/api.console.svc.run/v1alpha1/plugins/install';
export const pluginPath = '/apis/plugin.svc.run/v1alpha1/plugins';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are matched, not typed
type Answer = { readonly status: number; readonly headers: Headers; readonly body: Record<string, any> };

export async function send(
  server: TestServer,
  path: string,
  form: FormData,
  headers: Readonly<Record<string, string>> = { authorization: adminAuthorization },
): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: form });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

export function formWith(archive: Buffer, field = 'file'): FormData {
  const form = new FormData();
  form.set(field, new Blob([new Uint8Array(archive)]), 'package.tgz');
  return form;
}

/** Checks a package, and installs or upgrades nothing. */
export async function dryRun(server: TestServer, archive: Buffer, name?: string): Promise<Answer> {
  const path = name === undefined ? installPath : `/apis/api.console.svc.run/v1alpha1/plugins/${name}/upgrade`;
  return send(server, `${path}?dryRun=All`, formWith(archive));
}

/** Resolves once the Plugin object is as wanted, as its watch shows it. */
export async function pluginWhere(
  { url }: Pick<TestServer, 'url'>,
  name: string,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects are matched, not typed
  holds: (plugin: any) => boolean,
): Promise<unknown> {
  const watching = await Watching.open(url, `${pluginPath}?fieldSelector=metadata.name=${name}`, {
    transport: 'json',
    headers: { authorization: adminAuthorization },
  });
  try {
    await watching.until(({ events }) => events.length > 0 && holds(events.at(-1)?.object));
    return watching.events.at(-1)?.object;
  } finally {
    watching.leave();
  }
}

/** The condition of a Plugin with this type, if any. */
export function conditionOf(plugin: unknown, type: string): { readonly message: string } | undefined {
  const { status } = plugin as {
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly message: string }[] };
  };
  return status?.conditions?.find((condition) => condition.type === type);
}

export async function install(
  server: TestServer,
  archive: Buffer,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> {
  return send(server, installPath, formWith(archive), headers);
}

export async function upgrade(server: TestServer, name: string, archive: Buffer): Promise<Answer> {
  return send(server, `/apis/api.console.svc.run/v1alpha1/plugins/${name}/upgrade`, formWith(archive));
}

export async function traces(server: TestServer): Promise<readonly string[]> {
  const plugins = (await (await server.call(pluginPath)).json()) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  return [
    ...plugins.items.map(({ metadata }) => metadata.name).filter((name) => !['content', 'example'].includes(name)),
    ...(await readdir(join(server.dataDir, 'packages'))),
  ];
}
