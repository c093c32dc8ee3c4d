import { stringify } from 'yaml';

import type { TypeSchema } from '../../../server/type-schema.ts';
import type { Assist, Offer } from '../../../ui/editor/assist.ts';
import type { EditorLanguage } from '../../../ui/editor/code-editor.ts';
import {
  describedAt,
  isContainer,
  membersOf,
  textOf,
  typeText,
  valuesOf,
  type Described,
  type DescribedMember,
} from './described-members.ts';
import { jsonPlace } from './json-place.ts';
import { assistedTextMax, type TextPlace } from './text-place.ts';
import { yamlPlace } from './yaml-place.ts';

/** Texts in the page's language. */
export type AssistWords = {
  readonly required: string;
  readonly preset: (value: string) => string;
  readonly allowed: (values: string) => string;
};

/** The maximum number of offers. More typed characters narrow the offers. */
const offersMax = 1_000;
const shownValuesMax = 20;

/** Offers the members and values of a type's schema, and explains members. */
export function schemaAssist(type: TypeSchema, isNew: boolean, words: AssistWords): Assist {
  const { components } = type;
  const memberOffers = (described: Described, place: TextPlace, language: EditorLanguage): readonly Offer[] =>
    membersOf(described, components)
      .filter(({ name }) => !place.present.has(name))
      .map((member) => ({
        label: language === 'json' ? JSON.stringify(member.name) : member.name,
        apply: applied(member, place, language),
        detail: [typeText(member.schemas, components), ...(member.isRequired ? [words.required] : [])].join(', '),
        info: textOf(member.schemas, 'description'),
        kind: 'property',
        rank: member.isRequired ? 1 : 0,
      }));
  return {
    offers: (text, offset, language) => {
      const place = placeIn(text, offset, language);
      if (place === undefined) return undefined;
      const described = describedAt(type, place.path, isNew);
      const offers = [
        ...(place.kind === 'value' ? [] : memberOffers(described, place, language)),
        ...(place.kind === 'key' ? [] : valueOffers(described, place, language)),
      ];
      return offers.length === 0 ? undefined : { from: place.from, to: place.to, offers: offers.slice(0, offersMax) };
    },
    explain: (text, offset, language) => {
      const place = placeIn(text, offset, language);
      if (place?.kind !== 'key' || place.word === '') return undefined;
      const { word: name, path, from, to } = place;
      const declared = membersOf(describedAt(type, path, isNew), components).find((member) => member.name === name);
      // The schema may declare no members, but one schema for all members (`additionalProperties`).
      const member = declared ?? { name, isRequired: false, schemas: describedAt(type, [...path, name], isNew) };
      if (member.schemas.length === 0) return undefined;
      return { from, to, lines: linesAbout(member, components, words) };
    },
  };
}

function placeIn(text: string, offset: number, language: EditorLanguage): TextPlace | undefined {
  if (text.length > assistedTextMax) return undefined;
  return language === 'yaml' ? yamlPlace(text, offset) : jsonPlace(text, offset);
}

function linesAbout(
  { name, isRequired, schemas }: DescribedMember,
  components: TypeSchema['components'],
  words: AssistWords,
): readonly string[] {
  const type = typeText(schemas, components);
  const values = schemas.some(({ schema }) => schema['enum'] !== undefined) ? valuesOf(schemas) : [];
  const preset = schemas.find(({ schema }) => schema['default'] !== undefined)?.schema['default'];
  const shown = values.slice(0, shownValuesMax).map((value) => JSON.stringify(value));
  return [
    [name, ...(type === '' ? [] : [type]), ...(isRequired ? [words.required] : [])].join(' · '),
    textOf(schemas, 'title'),
    textOf(schemas, 'description'),
    values.length === 0 ? '' : words.allowed([...shown, ...(values.length > shown.length ? ['…'] : [])].join(', ')),
    preset === undefined ? '' : words.preset(JSON.stringify(preset)),
  ].filter((line) => line !== '');
}

/** Returns the inserted text of a chosen member, up to the begin of its value. */
function applied({ name, schemas }: DescribedMember, place: TextPlace, language: EditorLanguage): string {
  if (language === 'json') return place.hasColon ? JSON.stringify(name) : `${JSON.stringify(name)}: `;
  const key = yamlText(name);
  if (place.hasColon) return key;
  const indent = ' '.repeat(place.column + 2);
  const container = isContainer(schemas);
  if (container === undefined) return `${key}: `;
  return container === 'array' ? `${key}:\n${indent}- ` : `${key}:\n${indent}`;
}

function valueOffers(described: Described, { kind }: TextPlace, language: EditorLanguage): readonly Offer[] {
  if (kind === 'key') return [];
  const preset = described.map(({ schema }) => schema['default']);
  return valuesOf(described).map((value, index) => {
    const text = language === 'json' ? JSON.stringify(value) : yamlText(value);
    const isPreset = index === 0 && preset.includes(value);
    return { label: text, apply: text, detail: '', info: '', kind: 'enum', rank: isPreset ? 1 : 0 };
  });
}

function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0 }).trimEnd();
}
