import type { ObjectMetadata, PluginObject } from './object.ts';

/** Whether the members of the objects are unknown, so that any members may be written. */
/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters -- compares types for identity, not assignability */
type IsUntyped<T> = [T] extends [never]
  ? true
  : (<X>() => X extends T ? 1 : 2) extends <X>() => X extends PluginObject ? 1 : 2
    ? true
    : false;
/* eslint-enable @typescript-eslint/no-unnecessary-type-parameters */

/** Some members of `T`, at all levels. The schema, hooks or the server fill in the other members. */
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

/** The members of a written object. If `Written` is `unknown`, any member of `T` may be omitted. */
type WrittenMembers<T, Written> = unknown extends Written
  ? Part<Omit<T, 'metadata'>>
  : Written & { readonly apiVersion?: string | undefined; readonly kind?: string | undefined };

export type NewObject<T, Written = unknown> =
  IsUntyped<T> extends true
    ? object
    : object &
        WrittenMembers<T, Written> & {
          readonly metadata?: Part<ObjectMetadata> & { readonly generateName?: string };
        };

export type ReplacedObject<T, Written = unknown> =
  IsUntyped<T> extends true
    ? object
    : object & WrittenMembers<T, Written> & { readonly metadata: Part<ObjectMetadata> & { readonly name: string } };

export type ObjectPatch<T> = IsUntyped<T> extends true ? object : object & MergePatch<T>;

export type StatusPatch<T> =
  IsUntyped<T> extends true ? object : object & MergePatch<Pick<T, keyof T & ('status' | 'metadata')>>;
