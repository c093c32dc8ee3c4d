import type { ObjectMetadata, PluginObject } from './object.ts';

/**
 * The TypeScript type of a JSON Schema written `as const`. Keywords other than `type`, `properties`, `required`,
 * `nullable`, `additionalProperties`, `items`, `enum`, `const`, `anyOf` and `oneOf` restrict values, not the type. A
 * schema without any of these keywords has the type `unknown`.
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

/** A `type` with several names is a union. A name that is not a literal gives `unknown`. */
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
            ? // Equal lists are one type; as `readonly T[]` they would be repeated in a union.
              Readonly<ItemOf<Schema>[]>
            : Name extends 'object'
              ? MembersOf<Schema>
              : unknown;

type ItemOf<Schema> = Schema extends { readonly prefixItems: unknown }
  ? unknown
  : Schema extends { readonly items: infer Item }
    ? FromSchema<Item>
    : unknown;

/** Undeclared members may exist, but are not part of the type, so that a misspelt one is an error. */
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

/** The object of a type with this schema; any object if the schema is not known in detail. */
export type ObjectOfSchema<Schema> = Schema extends { readonly properties: infer Properties }
  ? string extends keyof Properties
    ? PluginObject
    : Shown<
        { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMetadata } & MembersOf<Schema>
      >
  : PluginObject;
