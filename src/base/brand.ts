/**
 * Gives a string or number type a name that the type checker compares (a nominal type). Only the parser of a branded
 * type casts values to it, so no other code can confuse two kinds of strings or numbers.
 */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
