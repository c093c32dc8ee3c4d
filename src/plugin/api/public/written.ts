import type { ObjectMetadata, PluginObject } from './object.ts';

/** Whether nothing is known about the members of the objects, so that any members may be written. */
/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters -- compares types for identity, not assignability */
type IsUntyped<T> = [T] extends [never]
  ? true
  : (<X>() => X extends T ? 1 : 2) extends <X>() => X extends PluginObject ? 1 : 2
    ? true
    : false;
/* eslint-enable @typescript-eslint/no-unnecessary-type-parameters */

/** Some members of `T`. Others are filled in by the schema, by hooks or by the server. */
type Part<T> = T extends readonly (infer Item)[]
  ? readonly Part<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]?: Part<T[Member]> | undefined }
    : T;

/** A merge patch (RFC 7396): null removes a member, and an array is replaced as a whole. */
type MergePatch<T> = T extends readonly (infer Item)[]
  ? readonly Part<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]?: MergePatch<T[Member]> | null | undefined }
    : T;

/**
 * The members that a write has. `Written` has them with the members that the schema requires; if it is `unknown`, any
 * members of `T` may be left out.
 */
type WrittenMembers<T, Written> = unknown extends Written
  ? Part<Omit<T, 'metadata'>>
  : Written & { readonly apiVersion?: string | undefined; readonly kind?: string | undefined };

/**
 * An object to create. A misspelt member, a value of another type than in the schema, or a missing member of `Written`
 * is an error.
 */
export type NewObject<T, Written = unknown> =
  IsUntyped<T> extends true
    ? object
    : object &
        WrittenMembers<T, Written> & {
          readonly metadata?: Part<ObjectMetadata> & { readonly generateName?: string };
        };

/** An object that replaces the object with the name in its metadata. */
export type ReplacedObject<T, Written = unknown> =
  IsUntyped<T> extends true
    ? object
    : object & WrittenMembers<T, Written> & { readonly metadata: Part<ObjectMetadata> & { readonly name: string } };

/** A merge patch of an object. */
export type ObjectPatch<T> = IsUntyped<T> extends true ? object : object & MergePatch<T>;

/** A merge patch of an object's status. */
export type StatusPatch<T> =
  IsUntyped<T> extends true ? object : object & MergePatch<Pick<T, keyof T & ('status' | 'metadata')>>;
