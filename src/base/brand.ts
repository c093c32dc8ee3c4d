/**
 * A nominal type over a structural one. Only the parser of a brand casts values to the brand, so no other code can
 * confuse two similar strings or numbers.
 */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
