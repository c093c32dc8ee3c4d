import type { ObjectMetadata, PluginObject } from './object.ts';

/**
 * The values that fit a JSON Schema written `as const`: the one place where a schema becomes a TypeScript type. What a schema
 * says beyond `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `anyOf` and `oneOf` narrows
 * values, not the type; where nothing of these says what a value is, it is `unknown`.
 */
export type FromSchema<Schema> =
  Schema extends { readonly const: infer Value } ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] } ? Value
      : Schema extends { readonly type: infer Name } ? OfType<Name extends readonly (infer Each)[] ? Each : Name, Schema>
        : Schema extends { readonly anyOf: readonly (infer Each)[] } ? FromSchema<Each>
          : Schema extends { readonly oneOf: readonly (infer Each)[] } ? FromSchema<Each>
            : unknown;

/** Each name of a `type` that lists several; one that is not known as a literal says nothing. */
type OfType<Name, Schema> =
  string extends Name ? unknown
    : Name extends 'string' ? string
      : Name extends 'number' | 'integer' ? number
        : Name extends 'boolean' ? boolean
          : Name extends 'null' ? null
            : Name extends 'array' ? readonly ItemOf<Schema>[]
              : Name extends 'object' ? MembersOf<Schema>
                : unknown;

type ItemOf<Schema> = Schema extends { readonly prefixItems: unknown } ? unknown : Schema extends { readonly items: infer Item } ? FromSchema<Item> : unknown;

/** Members that are not declared may be there as well; they are left out, so that a misspelt one is an error. */
type MembersOf<Schema> =
  Schema extends { readonly properties: infer Properties }
    ? Shown<
      { readonly [Name in keyof Properties as Name extends RequiredOf<Schema> ? Name : never]: FromSchema<Properties[Name]> }
      & { readonly [Name in keyof Properties as Name extends RequiredOf<Schema> ? never : Name]?: FromSchema<Properties[Name]> }
    >
    : Schema extends { readonly additionalProperties: infer Each } ? Readonly<Record<string, FromSchema<Each>>> : Readonly<Record<string, unknown>>;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** One object type instead of an intersection, as an editor shows it. */
type Shown<Members> = { [Name in keyof Members]: Members[Name] };

/** The object of a type with this schema; a schema that is not known in detail makes any object. */
export type ObjectOfSchema<Schema> =
  Schema extends { readonly properties: infer Properties }
    ? string extends keyof Properties ? PluginObject : Shown<{ readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMetadata } & MembersOf<Schema>>
    : PluginObject;
