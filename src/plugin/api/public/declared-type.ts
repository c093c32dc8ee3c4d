import type { PluginObject, Typed } from './object.ts';

/** JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The type by which index values are compared. The default is `string`, which compares code points. */
export type IndexType = 'string' | 'number' | 'boolean' | 'timestamp';

export type IndexSpec<T = PluginObject> = {
  /** The name of the index, unique within the type. The recommended name is the path of the field (`spec.title`). */
  readonly name: string;
  readonly type?: IndexType;
  readonly order?: 'ASC' | 'DESC';
  readonly unique?: boolean;
  /** Whether the function returns an array of values. */
  readonly multi?: boolean;
  /**
   * Returns the indexed value or values; undefined and null mean no value. The default returns the value at the dotted
   * path `name`. The function must be pure; its argument is frozen.
   */
  readonly indexFunc?: (object: T) => IndexValue | readonly IndexValue[] | null | undefined;
};
export type IndexValue = string | number | boolean;

export type TypeDeclaration<T = PluginObject> = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly singular: string;
  readonly plural: string;
  /**
   * JSON Schema 2020-12 of the object's members other than apiVersion, kind and metadata: usually `spec` and `status`.
   */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly indexes?: readonly IndexSpec<T>[];
  readonly statusSubresource?: boolean;
  /** The columns of tables between the name and the age. A `date` is shown as the time elapsed since the date. */
  readonly printerColumns?: readonly {
    readonly name: string;
    readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
    /** A JSON pointer into the object, for example `/spec/size`. */
    readonly pointer: string;
    /** A hint for clients on how to show the values, for example `date-time`. */
    readonly format?: string;
    readonly description?: string;
    readonly priority?: number;
  }[];
  /** Alternative names of the type on kubectl's command line, for example `wd` for widgets. */
  readonly shortNames?: readonly string[];
  /** The categories of the type. `kubectl get <category>` lists the objects of all types in a category. */
  readonly categories?: readonly string[];
  /**
   * Adds the subresource `/scale`, which tools for any type with replicas read and write. The members are JSON
   * pointers: `specReplicas`, below `/spec`, points to the desired number of replicas; `statusReplicas`, below
   * `/status`, points to the observed number; `labelSelector`, below `/spec` or `/status`, points to a label selector
   * as text.
   */
  readonly scale?: {
    readonly specReplicas: string;
    readonly statusReplicas: string;
    readonly labelSelector?: string;
  };
};

/**
 * The result of `defineType`: a declaration with the TypeScript type of its objects. Pass the result to the calls of a
 * `Client` to receive typed objects.
 */
export type DefinedType<T = PluginObject> = TypeDeclaration<T> & Typed<T>;
