/** The names of types in JSON Schema, which editors suggest. When the plugin starts, the server refuses other names. */
type TypeWord = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null' | (string & AnyValue);
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- `string` alone absorbs the literals
type AnyValue = NonNullable<unknown>;

type Subschema = JsonSchema | boolean;
type Subschemas = Readonly<Record<string, Subschema>>;

type SchemaRule = {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
  readonly reason?: string;
  readonly optionalOldSelf?: boolean;
};

/**
 * JSON Schema 2020-12. The keywords are listed so that editors suggest them. When the plugin starts, the server refuses
 * unknown keywords that do not begin with `x-`.
 */
export type JsonSchema = {
  readonly type?: TypeWord | readonly TypeWord[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly deprecated?: boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly nullable?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly properties?: Subschemas;
  readonly required?: readonly string[];
  readonly additionalProperties?: Subschema;
  readonly patternProperties?: Subschemas;
  readonly propertyNames?: Subschema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly items?: Subschema;
  readonly prefixItems?: readonly Subschema[];
  readonly contains?: Subschema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly allOf?: readonly Subschema[];
  readonly anyOf?: readonly Subschema[];
  readonly oneOf?: readonly Subschema[];
  readonly not?: Subschema;
  readonly if?: Subschema;
  readonly then?: Subschema;
  readonly else?: Subschema;
  readonly $ref?: string;
  readonly $defs?: Subschemas;
  readonly 'x-kubernetes-validations'?: readonly SchemaRule[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly [keyword: string]: unknown;
};
