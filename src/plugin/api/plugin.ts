/**
 * The only module of the platform that plugin code imports (`ledgerplane/plugin`). The checks at compile time only help
 * authors: the platform validates a plugin's export before use.
 */
import type { PluginLogger } from './public/logger.ts';
import type { MigrationDeclaration } from './public/migration.ts';
import type { PluginObject, Typed, TypeName } from './public/object.ts';
import type { ReconcilerDeclaration, WatchDeclaration } from './public/reconciler.ts';
import type { JsonSchema } from './public/json-schema.ts';
import type { ControllerDeclaration, RouteDeclaration, SocketDeclaration, TypedRoute } from './public/route.ts';
import type { ObjectOfSchema, WrittenOfSchema } from './public/schema.ts';
import type {
  DefaultIndex,
  DefinedType,
  IndexSpec,
  SchemaHooks,
  TypeDeclaration,
  TypeHooks,
} from './public/declared-type.ts';

export { ClientError } from './public/client.ts';
export type { Client, ClientErrorMembers, ClientList, ClientListQuery, ClientPreconditions } from './public/client.ts';
export type { PluginLogger } from './public/logger.ts';
export type { MigrationDeclaration } from './public/migration.ts';
export type { ObjectMetadata, ObjectOf, OwnerReference, PluginObject, Typed, TypeName } from './public/object.ts';
export type {
  ReconcileOutcome,
  ReconcilerDeclaration,
  ReconcileRequest,
  WatchDeclaration,
} from './public/reconciler.ts';
export type {
  ControllerDeclaration,
  PluginSocket,
  RouteDeclaration,
  RouteHandler,
  RouteMethod,
  RouteRequest,
  RouteResponse,
  ServerSentEvent,
  SocketDeclaration,
  SocketHandler,
  TypedRequest,
} from './public/route.ts';
export { checkIfMatch, objectResponse } from './public/own/entity-tag.ts';
export { listBody } from './public/own/list-body.ts';
export { ownObjects, type OwnObjects, type OwnVerb } from './public/own/own-objects.ts';
export { escapeSelectorValue, readPageParameters, type PageParameters } from './public/own/parameters.ts';
export type { JsonSchema } from './public/json-schema.ts';
export type { NewObject, ObjectPatch, ReplacedObject, StatusPatch } from './public/written.ts';
export type { FromSchema, ObjectOfSchema } from './public/schema.ts';
export type {
  DeclaredReference,
  DefinedType,
  HookContext,
  HookViolation,
  IndexSpec,
  IndexType,
  IndexValue,
  TypeDeclaration,
  TypeHooks,
  VersionConversion,
  VersionDeclaration,
} from './public/declared-type.ts';

export type PluginDefinition = {
  readonly types?: readonly TypeDeclaration<never>[];
  readonly controllers?: readonly ControllerDeclaration[];
  readonly routes?: readonly RouteDeclaration[];
  readonly sockets?: readonly SocketDeclaration[];
  readonly reconcilers?: readonly ReconcilerDeclaration<never>[];
  /**
   * Conversions of stored objects to the form that this version of the plugin expects, in the order in which they run.
   */
  readonly migrations?: readonly MigrationDeclaration[];
  /**
   * Called when the plugin stops, after its routes, sockets, types and reconcilers are removed. Also called if the
   * plugin was loaded but never served. End timers and remove listeners here. An error is only logged. The time limit
   * of the plugin's start also applies to `stop`.
   */
  readonly stop?: () => void | Promise<void>;
};

/** The argument of a function that returns a plugin's definition. */
export type PluginContext = {
  /** The plugin's name: `metadata.name` of its plugin.yaml. */
  readonly name: string;
  /** The platform's domain, which replaces `${domain}` in the plugin's YAML files. */
  readonly domain: string;
  readonly log: PluginLogger;
};

export type DefinePlugin = (context: PluginContext) => PluginDefinition | Promise<PluginDefinition>;

/** Declares a plugin. Export the result as the default export of the plugin's module. */
export function definePlugin(definition: PluginDefinition): PluginDefinition;
export function definePlugin(define: DefinePlugin): DefinePlugin;
export function definePlugin(plugin: PluginDefinition | DefinePlugin): PluginDefinition | DefinePlugin {
  return plugin;
}

/**
 * Declares a type. The TypeScript type of the objects is derived from `schema`, also for index functions and hooks. If
 * the derived type is not precise enough, use `defineType<MyObject>`.
 */
export function defineType<T>(declaration: unknown extends T ? never : TypeDeclaration<T>): DefinedType<T>;
export function defineType<
  const Schema extends JsonSchema,
  const Plural extends string,
  const Index extends string = never,
  const Hook extends keyof TypeHooks = never,
>(
  declaration: SchemaDeclaration<Schema, Plural, Index, Hook>,
): DefinedType<
  ObjectOfSchema<Schema>,
  DefaultIndex | Index,
  'default' extends Hook ? unknown : WrittenOfSchema<Schema>
>;
export function defineType(declaration: TypeDeclaration<never>): TypeDeclaration<never> {
  return declaration;
}

/** This type has four parameters, so that a call of `defineType` with one type argument selects the other overload. */
type SchemaDeclaration<
  Schema extends JsonSchema,
  Plural extends string,
  Index extends string,
  Hook extends keyof TypeHooks,
> = Omit<TypeDeclaration<ObjectOfSchema<Schema>>, 'schema' | 'plural' | 'indexes' | 'hooks'> & {
  readonly schema: Schema;
  readonly plural: Plural;
  readonly indexes?: readonly (IndexSpec<ObjectOfSchema<Schema>> & { readonly name: Index })[];
  /**
   * A mapped type, from which the compiler infers the declared hooks. With a hook `default`, a write may omit any
   * member.
   */
  readonly hooks?: { readonly [Name in Hook]?: SchemaHooks<ObjectOfSchema<Schema>>[Name] };
};

/**
 * Declares a reconciler. The TypeScript types of its objects and of watched objects are derived from the `type`
 * members. If a `type` is not a result of `defineType`, use `defineReconciler<MyObject>`.
 */
export function defineReconciler<T = PluginObject, const Watched extends readonly unknown[] = readonly unknown[]>(
  declaration: Omit<ReconcilerDeclaration<T>, 'type' | 'watches'> & {
    readonly type: TypeName & Typed<T>;
    readonly watches?: { readonly [Position in keyof Watched]: WatchDeclaration<Watched[Position]> };
  },
): ReconcilerDeclaration<never>;
export function defineReconciler(declaration: ReconcilerDeclaration<never>): ReconcilerDeclaration<never> {
  return declaration;
}

/**
 * Declares a route. In the handler's request, the type of `params` is derived from the parameters in `path`. The types
 * of `query` and `body` are derived from the declared schemas.
 */
export function defineRoute<
  const Path extends string,
  const Query extends Readonly<Record<string, JsonSchema>> = Readonly<Record<string, JsonSchema>>,
  const Body extends JsonSchema = JsonSchema,
>(route: TypedRoute<Path, Query, Body>): RouteDeclaration;
export function defineRoute(route: RouteDeclaration): RouteDeclaration {
  return route;
}
