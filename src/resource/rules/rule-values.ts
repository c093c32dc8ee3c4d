import { isList, isObject } from '../../base/guards.ts';

/**
 * Converts a JSON value to the value that rules see. Null becomes undefined if the schema declares a type for the
 * value, because rules then treat null as an absent value.
 */
export type Convert = (value: unknown) => unknown;

/** The source of a field that rules read: the name of the object's member, and the conversion of its value. */
export type FieldSource = {
  readonly member: string;
  readonly convert: () => Convert;
};

/**
 * The view of an object that rules read. The CEL library recognizes the type of the object by the view's constructor.
 */
export type ObjectView = { readonly raw: Readonly<Record<string, unknown>> };

export type ObjectViewClass = new (raw: Readonly<Record<string, unknown>>) => ObjectView;

/**
 * Returns a class for views of objects of one schema. A field is converted when a rule reads the field. The class
 * extends `Map`, so that the library reads fields by `get`, and no field name can collide with a method.
 */
export function objectViewClass(fields: ReadonlyMap<string, FieldSource>): ObjectViewClass {
  return class extends Map<string, unknown> {
    readonly raw: Readonly<Record<string, unknown>>;

    constructor(raw: Readonly<Record<string, unknown>>) {
      super();
      this.raw = raw;
    }

    override get(name: string): unknown {
      const source = fields.get(name);
      if (source === undefined || !Object.hasOwn(this.raw, source.member)) return undefined;
      return source.convert()(this.raw[source.member]);
    }
  };
}

/** Converts strings, booleans and doubles: null becomes undefined, and any other value stays unchanged. */
export const asIs: Convert = (value) => (value === null ? undefined : value);

export const asInteger: Convert = (value) =>
  typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : asIs(value);

const [zero, nine] = [48, 57];

/** Returns a view of a list. An item is converted when the item is read. */
export function listView(raw: readonly unknown[], convert: Convert): readonly unknown[] {
  return new Proxy<readonly unknown[]>([], {
    get: (_target, name): unknown => {
      if (name === 'length') return raw.length;
      // The proxy receives an index as a text. A check of the first character is faster than a regular expression.
      const code = typeof name === 'string' ? name.charCodeAt(0) : 0;
      if (typeof name === 'string' && code >= zero && code <= nine) return convert(raw[Number(name)]);
      // The methods of arrays are called on the view, so they read the length and the converted items.
      return Reflect.get(Array.prototype, name);
    },
    has: (_target, name) => Reflect.has(raw, name),
  });
}

/** Returns a view of a map, which the CEL library treats as a `Map`. A value is converted when the value is read. */
export function mapView(raw: Readonly<Record<string, unknown>>, convert: Convert): ReadonlyMap<string, unknown> {
  const read = (name: string): unknown => (Object.hasOwn(raw, name) ? convert(raw[name]) : undefined);
  function* entries(): Generator<[string, unknown]> {
    for (const name of Object.keys(raw)) yield [name, read(name)];
  }
  const methods = new Map<string | symbol, unknown>([
    ['get', read],
    ['has', (name: string) => Object.hasOwn(raw, name)],
    ['keys', () => Object.keys(raw).values()],
    ['entries', entries],
    [Symbol.iterator, entries],
    ['constructor', Map],
  ]);
  return new Proxy(new Map<string, unknown>(), {
    get: (_target, name) => (name === 'size' ? Object.keys(raw).length : methods.get(name)),
  });
}

/** Converts a value without a declared type. Rules see numbers in the value as doubles. */
export const asAny: Convert = (value) => {
  if (isList(value)) return listView(value, asAny);
  return isObject(value) ? mapView(value, asAny) : value;
};

export function asList(convert: Convert): Convert {
  if (convert === asIs) return asIs;
  return (value) => (isList(value) ? listView(value, convert) : asIs(value));
}

export function asMap(convert: Convert): Convert {
  return (value) => (isObject(value) ? mapView(value, convert) : asIs(value));
}
