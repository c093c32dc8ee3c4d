/**
 * A nominal type over a structural one. The cast that makes a branded value lives in the one parser of that brand,
 * so two look-alike strings or numbers cannot be confused anywhere else.
 */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
