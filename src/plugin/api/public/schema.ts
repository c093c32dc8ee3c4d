import type { ObjectMetadata, PluginObject } from './object.ts';

/**
 * The TypeScript type of the values of a JSON Schema, which must be written `as const`. The type is derived from
 * `type`, `properties`, `required`, `nullable`, `additionalProperties`, `prefixItems`, `items`, `enum`, `const`,
 * `anyOf` and `oneOf`. Other keywords restrict values and do not affect the type. A schema with none of `type`, `enum`,
 * `const`, `anyOf` and `oneOf` has the type `unknown`.
 */
export type FromSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: infer Name }
      ? OfType<Name extends readonly (infer Each)[] ? Each : Name, Schema> | NullOf<Schema>
      : Schema extends { readonly anyOf: readonly (infer Each)[] }
        ? FromSchema<Each>
        : Schema extends { readonly oneOf: readonly (infer Each)[] }
          ? FromSchema<Each>
          : unknown;

type NullOf<Schema> = Schema extends { readonly nullable: true } ? null : never;

/**
 * The TypeScript type of a schema's `type` keyword. Several names result in a union; a name that is not a literal
 * results in `unknown`.
 */
type OfType<Name, Schema> = string extends Name
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
              Readonly<ItemOf<Schema>[]>
            : Name extends 'object'
              ? MembersOf<Schema>
              : unknown;

type ItemOf<Schema> = Schema extends { readonly prefixItems: unknown }
  ? unknown
  : Schema extends { readonly items: infer Item }
    ? FromSchema<Item>
    : unknown;

/** Undeclared members may exist, but are not part of the type, so that a misspelt member name is an error. */
type MembersOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? Shown<
      {
        readonly [Name in keyof Properties as Name extends RequiredOf<Schema> ? Name : never]: FromSchema<
          Properties[Name]
        >;
      } & {
        readonly [Name in keyof Properties as Name extends RequiredOf<Schema> ? never : Name]?: FromSchema<
          Properties[Name]
        >;
      }
    >
  : Schema extends { readonly additionalProperties: infer Each }
    ? Readonly<Record<string, FromSchema<Each>>>
    : Readonly<Record<string, unknown>>;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** Flattens an intersection into one object type, for editors. */
type Shown<Members> = { [Name in keyof Members]: Members[Name] };

/** The TypeScript type of objects with this schema; `PluginObject` if the property names are not known. */
export type ObjectOfSchema<Schema> = Schema extends { readonly properties: infer Properties }
  ? string extends keyof Properties
    ? PluginObject
    : Shown<
        { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMetadata } & MembersOf<Schema>
      >
  : PluginObject;
