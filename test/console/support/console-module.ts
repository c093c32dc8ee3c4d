import { join } from 'node:path';

import { build } from 'vite';

import { repository } from '../../architecture/repository.ts';

/**
 * Imports a module of the console, which is not compiled with the tests, because its code is for browsers. `path` is
 * relative to `console/`. The caller names the exports that it uses as `T`.
 */
export async function importConsoleModule<T>(path: string): Promise<T> {
  const result = await build({
    configFile: false,
    root: join(repository, 'console'),
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      target: 'es2023',
      lib: { entry: join(repository, 'console', path), formats: ['es'], fileName: 'module' },
    },
  });
  const [output] = [result].flat() as readonly { readonly output: readonly { readonly code?: string }[] }[];
  const code = output?.output[0]?.code ?? '';
  return (await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)) as T;
}
