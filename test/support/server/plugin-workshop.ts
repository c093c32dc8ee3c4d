import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

import { repository } from '../../architecture/repository.ts';

/**
 * Gives a plugin's folder the result of `npm install` without a network: links this package and its build tools as
 * dependencies.
 */
export async function linkDependencies(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '@types'), { recursive: true });
  if (existsSync(join(modules, 'ledgerplane'))) return;
  await symlink(repository, join(modules, 'ledgerplane'));
  const tools = [
    'typescript',
    join('@types', 'node'),
    '.bin',
    '@tanstack',
    '@vitejs',
    'vite',
    'vue',
    'vue-router',
    'vue-tsc',
  ];
  for (const name of tools) await symlink(join(repository, 'node_modules', name), join(modules, name));
}

/** Runs a program to its end. Returns its output and its exit code. */
export async function run(
  folder: string,
  command: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly printed: string }> {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...env, npm_config_offline: 'true', npm_config_update_notifier: 'false' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      printed += part;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, printed };
}
