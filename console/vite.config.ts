import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import vue from '@vitejs/plugin-vue';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A smaller file costs more to negotiate than its compression saves. */
const compressedBytesMin = 512;

/** Writes a gzip and a brotli form beside each text file of the build, so that the server never compresses. */
function precompressed(): Plugin {
  return {
    name: 'precompressed',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true });
      const texts = entries.filter((entry) => entry.isFile() && /\.(?:html|js|css|svg|json)$/u.test(entry.name));
      await Promise.all(texts.map(async ({ parentPath, name }) => compress(join(parentPath, name))));
    },
  };
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path);
  if (bytes.length < compressedBytesMin) return;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
}

export default defineConfig({
  root: here('.'),
  base: '/console/',
  publicDir: false,
  plugins: [vue(), precompressed()],
  resolve: {
    alias: {
      'ledgerplane/client': here('../src/client/client.ts'),
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
    reportCompressedSize: false,
  },
  server: { proxy: { '^/(?!console/)': process.env['LEDGERPLANE_SERVER'] ?? 'http://127.0.0.1:8090' } },
});
