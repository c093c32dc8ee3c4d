import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { repository } from '../architecture/repository.ts';

export type Instruction = { readonly name: string; readonly text: string };
export type Stage = {
  readonly image: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
};
export type Copy = { readonly from: string | undefined; readonly sources: readonly string[]; readonly target: string };

/** The Dockerfile's stages, each with its instructions; lines that go on are joined. */
export async function stages(): Promise<readonly Stage[]> {
  const text = (await readFile(join(repository, 'Dockerfile'), 'utf8'))
    .replace(/^#.*\n/gmu, '')
    .replace(/\\\n\s*/gu, ' ');
  const instructions = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): Instruction => {
      const [name = ''] = line.split(' ', 1);
      return { name, text: line.slice(name.length + 1).trim() };
    });
  const found: { image: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const instruction of instructions) {
    if (instruction.name !== 'FROM') {
      found.at(-1)?.instructions.push(instruction);
      continue;
    }
    const [image = '', , name] = instruction.text.split(' ');
    found.push({ image, name, instructions: [] });
  }
  return found;
}

export function copiesOf({ instructions }: Stage): readonly Copy[] {
  return instructions
    .filter(({ name }) => name === 'COPY')
    .map(({ text }) => {
      const words = text.split(' ');
      const from = /^--from=(.+)$/u.exec(words[0] ?? '')?.[1];
      const paths = from === undefined ? words : words.slice(1);
      return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
    });
}
