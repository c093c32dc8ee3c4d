import { fileURLToPath } from 'node:url';

import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

import { precompressed } from '../src/sdk/console/precompressed.ts';
import { kitFolder, sharedModules } from '../src/sdk/console/vite-preset.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The modules of the kit, with constant addresses. They share the chunks of the console. */
const kit = Object.fromEntries(
  [...sharedModules.values()].map((name) => [`${kitFolder.slice('/console/'.length)}${name}`, here(`kit/${name}.ts`)]),
);

export default defineConfig({
  root: here('.'),
  base: '/console/',
  publicDir: false,
  plugins: [vue(), precompressed()],
  resolve: {
    alias: {
      'ledgerplane/client': here('../src/client/client.ts'),
      'ledgerplane/console-kit': here('../src/sdk/console/console-kit.ts'),
      'ledgerplane/ui': here('../src/sdk/ui.ts'),
    },
  },
  define: {
    __VUE_OPTIONS_API__: 'false',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    __VUE_I18N_FULL_INSTALL__: 'false',
    __VUE_I18N_LEGACY_API__: 'false',
    __INTLIFY_PROD_DEVTOOLS__: 'false',
    __INTLIFY_JIT_COMPILATION__: 'true',
  },
  build: {
    outDir: here('../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: 'chrome123',
    // The policy of the page allows neither fonts nor scripts from data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: { index: here('index.html'), ...kit },
      preserveEntrySignatures: 'allow-extension',
      output: {
        entryFileNames: ({ name }) => (name in kit ? `${name}.js` : 'assets/[name]-[hash].js'),
      },
    },
    reportCompressedSize: false,
  },
  server: { proxy: { '^/(?!console/)': process.env['LEDGERPLANE_SERVER'] ?? 'http://127.0.0.1:8090' } },
});
