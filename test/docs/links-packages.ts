import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Test } from 'tap';

import { blocksIn, fileOf, follow, sitsDown } from './tutorial-reader.ts';

export const linksVersions = ['1.0.0', '2.0.0', '3.0.0'] as const;

/** Lines of the tutorial that build and test: `npm pack` compiles too. */
const untaken = /^npm (?:test|run build)$|plugin check$/u;
/** Blocks that need a server, or continue one that does. */
const needsServer = /ledgerplane serve|admin-password|links\.json/u;

/**
 * Returns the packages of the three versions of the tutorial's plugin, in the order of `linksVersions`. `edit` is a
 * shell command that changes the files of the last version before it is packed.
 */
export async function linksPackages(t: Test, edit?: string): Promise<readonly Buffer[]> {
  const reader = await sitsDown(t, 'links');
  for (const page of ['docs/tutorial.md', 'docs/tutorial-versions.md']) {
    for (const block of await blocksIn(page)) {
      const isTaken = fileOf(block) !== undefined || (block.language === 'sh' && !needsServer.test(block.text));
      if (!isTaken) continue;
      const text =
        block.language === 'sh'
          ? block.text
              .split('\n')
              .filter((line) => !untaken.test(line))
              .join('\n')
          : block.text;
      if (text !== '') await follow(t, reader, { ...block, text });
    }
  }
  if (edit !== undefined) {
    const { printed, status } = await reader.shell.run(`${edit} && npm pack`);
    t.equal(status, 0, 'the last version is packed again', { printed });
  }
  return Promise.all(
    linksVersions.map(async (version) => readFile(join(reader.folder, 'links', `links-${version}.tgz`))),
  );
}
