/** Gives a string or number type a nominal type, so that code cannot confuse two kinds of strings or numbers. */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
