/**
 * The Vite preset for front ends of plugins (`ledgerplane/console-kit/vite`).
 */
import { resolve } from 'node:path';

import type { Plugin, UserConfig } from 'vite';

import { precompressed } from './precompressed.ts';

/**
 * The modules that the console shares with front ends, by the names that authors import, with the names of their files
 * in `/console/kit/v1/`. A front end has the console's own instance of each, so that components, injections and errors
 * are those of the console.
 */
export const sharedModules: ReadonlyMap<string, string> = new Map([
  ['vue', 'vue'],
  ['vue-router', 'vue-router'],
  ['@tanstack/vue-query', 'vue-query'],
  ['ledgerplane/client', 'client'],
  ['ledgerplane/console-kit', 'console-kit'],
]);

/** The addresses of the kit. A later kit with other exports has another version, and this one stays. */
export const kitFolder = '/console/kit/v1/';

export type ConsoleFrontEndOptions = {
  /** The module whose default export is the result of `defineConsole`; by default `console/index.ts`. */
  readonly entry?: string | undefined;
  /** The folder of the built files, which `spec.console` of plugin.yaml names; by default `dist/console`. */
  readonly outDir?: string | undefined;
};

/**
 * Builds a front end: the module `index.js`, the style sheet `index.css` if components have styles, and `assets/` with
 * everything else. Styles and assets stay files, because the policy of the console allows no other ones.
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
