import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The version in package.json. The path is relative to the compiled file, dist/src/server/platform-version.js. */
export const platformVersion = versionOf(
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../package.json'), 'utf8')),
);

function versionOf(manifest: unknown): string {
  if (
    typeof manifest === 'object' &&
    manifest !== null &&
    'version' in manifest &&
    typeof manifest.version === 'string'
  )
    return manifest.version;
  throw new Error('package.json has no version');
}
