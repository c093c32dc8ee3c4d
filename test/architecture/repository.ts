import { resolve } from 'node:path';

/** The folder of package.json: compiled tests run from dist/test/architecture. */
export const repository = resolve(import.meta.dirname, '../../..');
