import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

import { consoleFrontEnd } from '../src/sdk/console/vite-preset.ts';

/** Builds the front end of a plugin of this repository. The root is the plugin's folder. */
export default defineConfig({ plugins: [vue(), consoleFrontEnd()] });
