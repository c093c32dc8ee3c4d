import { usageError } from '../failure.ts';
import type { Words } from './template-files.ts';

/** The names of a type to generate, as given on the command line. */
export type TypeRequest = {
  readonly kind: string;
  readonly plural: string | undefined;
  readonly group: string;
  readonly version: string;
};

/** A name is one label of a DNS name, because it becomes a part of a group, a path or a role's name. */
const nameLengthMax = 63;
const groupLengthMax = 253;
const label = '[a-z](?:[a-z0-9-]*[a-z0-9])?';

/** Words that TypeScript does not accept as the name of a constant in a module. */
const reservedWords = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
    'false finally for function if implements import in instanceof interface let new null package private protected ' +
    'public return static super switch this throw true try typeof undefined var void while with yield'
  ).split(' '),
);

type PluginWords = {
  readonly name: string;
  readonly title: string;
};

/** Returns the values of the placeholders for a plugin. `title` is the name in a form for people. */
export function pluginWords(name: string): PluginWords {
  return { name, title: `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}` };
}

/**
 * Returns the values of the placeholders for a type. @throws CommandFailure for names that the platform would refuse.
 */
export function typeWords({ kind, plural = `${kind.toLowerCase()}s`, group, version }: TypeRequest): Words {
  checkKind(kind);
  checkLabel(plural, 'a plural');
  if (group.length > groupLengthMax || !new RegExp(`^${label}(?:\\.${label})+$`, 'u').test(group))
    throw usageError(`a group must be a DNS subdomain like links.example.com, not ${JSON.stringify(group)}`);
  if (!/^v[1-9][0-9]*(?:(?:alpha|beta)[1-9][0-9]*)?$/u.test(version))
    throw usageError(`a version must be like v1 or v1alpha1, not ${JSON.stringify(version)}`);
  return { kind, plural, group, version, singular: kind.toLowerCase(), ...kindWords(kind) };
}

type KindWords = {
  readonly file: string;
  readonly camel: string;
};

/** Returns the name of a type's file, without extension, and of the constant that the file exports. */
export function kindWords(kind: string): KindWords {
  const camel = kind.replace(/^[A-Z]+(?![a-z])|^[A-Z]/u, (start) => start.toLowerCase());
  return { file: kebabOf(kind), camel: reservedWords.has(camel) ? `${camel}Type` : camel };
}

export function checkKind(kind: string): void {
  if (kind.length > nameLengthMax || !/^[A-Z][A-Za-z0-9]*$/u.test(kind))
    throw usageError(`a kind must be letters and digits and begin with a capital letter, not ${JSON.stringify(kind)}`);
}

/** Refuses a name that cannot be a DNS label. `named`: the noun for the error, such as "the name of a plugin". */
export function checkLabel(name: string, named: string): void {
  if (name.length <= nameLengthMax && new RegExp(`^${label}$`, 'u').test(name)) return;
  throw usageError(
    `${named} must have at most ${String(nameLengthMax)} lowercase letters, digits and "-", ` +
      'begin with a letter and end with a letter or digit',
  );
}

/** Returns `linkLabel` for the constant `link` and the part `label`. */
export function exportOf(camel: string, part: string): string {
  const words = part.split('-').filter((word) => word !== '');
  return camel + words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
}

function kebabOf(kind: string): string {
  return kind
    .replaceAll(/([a-z0-9])([A-Z])/gu, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/gu, '$1-$2')
    .toLowerCase();
}
