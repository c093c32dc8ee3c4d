/**
 * The Vite preset for front ends of plugins (`ledgerplane/console-kit/vite`).
 */
import { resolve } from 'node:path';

import type { Plugin, UserConfig } from 'vite';

import { precompressed } from './precompressed.ts';

/**
 * The modules that the console shares with front ends: the names that authors import, and the names of their files in
 * `/console/kit/v1/`. A front end uses the console's own instances of these modules, so that both have the same
 * provided values and classes of errors.
 */
export const sharedModules: ReadonlyMap<string, string> = new Map([
  ['vue', 'vue'],
  ['vue-router', 'vue-router'],
  ['@tanstack/vue-query', 'vue-query'],
  ['ledgerplane/client', 'client'],
  ['ledgerplane/console-kit', 'console-kit'],
]);

/**
 * The address of the kit's modules. A kit with incompatible exports gets another version, and the console continues to
 * serve this version.
 */
export const kitFolder = '/console/kit/v1/';

export type ConsoleFrontEndOptions = {
  /** The entry module, with the result of `defineConsole` as its default export; `console/index.ts` by default. */
  readonly entry?: string | undefined;
  /** The folder of the built files, which `spec.console` of plugin.yaml names; `dist/console` by default. */
  readonly outDir?: string | undefined;
};

/**
 * Builds a front end: the module `index.js`, the style sheet `index.css` if components have styles, and all other files
 * in `assets/`. Styles and assets are separate files, because the console's Content-Security-Policy refuses inline
 * styles and most `data:` URLs.
 */
export function consoleFrontEnd({
  entry = 'console/index.ts',
  outDir = 'dist/console',
}: ConsoleFrontEndOptions = {}): Plugin[] {
  const config = ({ root = '.', build }: UserConfig): UserConfig =>
    settings(resolve(root, entry), build?.outDir ?? outDir);
  return [{ name: 'ledgerplane-console', apply: 'build', enforce: 'pre', config, resolveId }, precompressed()];
}

function settings(entry: string, outDir: string): UserConfig {
  return {
    base: './',
    publicDir: false,
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2023',
      cssTarget: 'chrome123',
      cssCodeSplit: false,
      assetsInlineLimit: 0,
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: { index: entry },
        preserveEntrySignatures: 'strict',
        output: {
          format: 'es',
          entryFileNames: 'index.js',
          chunkFileNames: 'assets/[name]-[hash].js',
          assetFileNames: ({ names }) =>
            names.some((name) => name.endsWith('.css')) ? 'index.css' : 'assets/[name]-[hash][extname]',
        },
      },
    },
  };
}

function resolveId(id: string): { readonly id: string; readonly external: 'absolute' } | undefined {
  const name = sharedModules.get(id);
  return name === undefined ? undefined : { id: `${kitFolder}${name}.js`, external: 'absolute' };
}
