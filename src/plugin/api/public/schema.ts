import type { ObjectMetadata, PluginObject } from './object.ts';

/**
 * The TypeScript type of the values of a JSON Schema, which must be written `as const`. The keywords `type`,
 * `properties`, `required`, `nullable`, `additionalProperties`, `prefixItems`, `items`, `enum`, `const`, `anyOf` and
 * `oneOf` affect the type. Other keywords do not affect the type. A schema with none of `type`, `enum`, `const`,
 * `anyOf` and `oneOf` has the type `unknown`.
 */
export type FromSchema<Schema> = FormOf<Schema, 'declared'>;

/**
 * Decides which members are required. `declared`: the members in `required`. `read`: also the members with a `default`,
 * which the server fills in. `written`: the members in `required` that cannot have a `default`.
 */
type Form = 'declared' | 'read' | 'written';

type FormOf<Schema, As extends Form> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: infer Name }
      ? OfType<Name extends readonly (infer Each)[] ? Each : Name, Schema, As> | NullOf<Schema>
      : Schema extends { readonly anyOf: readonly (infer Each)[] }
        ? FormOf<Each, As>
        : Schema extends { readonly oneOf: readonly (infer Each)[] }
          ? FormOf<Each, As>
          : unknown;

type NullOf<Schema> = Schema extends { readonly nullable: true } ? null : never;

/**
 * The TypeScript type of a schema's `type` keyword. Several names result in a union. A name that is not a literal
 * results in `unknown`.
 */
type OfType<Name, Schema, As extends Form> = string extends Name
  ? unknown
  : Name extends 'string'
    ? string
    : Name extends 'number' | 'integer'
      ? number
      : Name extends 'boolean'
        ? boolean
        : Name extends 'null'
          ? null
          : Name extends 'array'
            ? // TypeScript merges equal types `Readonly<T[]>` in a union, and repeats equal types `readonly T[]`.
              Readonly<ItemOf<Schema, As>[]>
            : Name extends 'object'
              ? MembersOf<Schema, As>
              : unknown;

type ItemOf<Schema, As extends Form> = Schema extends { readonly prefixItems: unknown }
  ? unknown
  : Schema extends { readonly items: infer Item }
    ? FormOf<Item, As>
    : unknown;

/** Undeclared members may exist, but are not part of the type, so that a misspelt member name is an error. */
type MembersOf<Schema, As extends Form> = Schema extends { readonly properties: infer Properties }
  ? Shown<
      {
        readonly [Name in keyof Properties as Name extends RequiredOf<Schema, As> ? Name : never]: FormOf<
          Properties[Name],
          As
        >;
      } & {
        readonly [Name in keyof Properties as Name extends RequiredOf<Schema, As> ? never : Name]?:
          FormOf<Properties[Name], As> | (As extends 'written' ? undefined : never);
      }
    >
  : Schema extends { readonly additionalProperties: infer Each }
    ? Readonly<Record<string, FormOf<Each, As>>>
    : Readonly<Record<string, unknown>>;

type RequiredOf<Schema, As extends Form> = As extends 'declared'
  ? NamesInRequired<Schema>
  : As extends 'read'
    ? NamesInRequired<Schema> | NamesWith<Schema, 'default'>
    : Exclude<NamesInRequired<Schema>, NamesWith<Schema, 'default'> | NamesWith<Schema, '$ref'>>;

type NamesInRequired<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

/**
 * The names of the properties with one of the keywords, in this schema or in its `allOf`. The type does not follow a
 * `$ref`, so a property with a `$ref` may have a default.
 */
type NamesWith<Schema, Keyword extends 'default' | '$ref'> =
  | (Schema extends { readonly properties: infer Properties }
      ? {
          [Name in keyof Properties]: HasKeyword<Properties[Name], Keyword> extends true ? Name : never;
        }[keyof Properties]
      : never)
  | (Schema extends { readonly allOf: readonly (infer Each)[] } ? EachNamesWith<Each, Keyword> : never)
  | (Keyword extends '$ref' & keyof Schema ? string : never);

/** The names in the schemas of an `allOf`. The conditional type applies `NamesWith` to each schema of the union. */
type EachNamesWith<Schema, Keyword extends 'default' | '$ref'> = Schema extends unknown
  ? NamesWith<Schema, Keyword>
  : never;

type HasKeyword<Schema, Keyword extends string> =
  Schema extends Readonly<Record<Keyword, unknown>>
    ? true
    : Schema extends { readonly allOf: readonly (infer Each)[] }
      ? true extends HasKeyword<Each, Keyword>
        ? true
        : false
      : false;

/** Flattens an intersection into one object type. `infer` hides the name `Shown` in editors and errors. */
type Shown<Members> = Members extends infer All ? { [Name in keyof All]: All[Name] } : never;

/** The TypeScript type of objects with this schema; `PluginObject` if the property names are not known. */
export type ObjectOfSchema<Schema> = Schema extends { readonly properties: infer Properties }
  ? string extends keyof Properties
    ? PluginObject
    : Shown<
        {
          readonly apiVersion: string;
          readonly kind: string;
          readonly metadata: ObjectMetadata;
        } & MembersOf<Schema, 'read'>
      >
  : PluginObject;

/**
 * The members of written objects with this schema, without the platform's members; `unknown` if the property names are
 * not known.
 */
export type WrittenOfSchema<Schema> = Schema extends { readonly properties: infer Properties }
  ? string extends keyof Properties
    ? unknown
    : DeclaredMembers<MembersOf<Schema, 'written'>>
  : unknown;

type DeclaredMembers<Members> = {
  [Name in keyof Members as Exclude<Name, 'apiVersion' | 'kind' | 'metadata'>]: Members[Name];
};
