/**
 * The only module that plugin code imports (`ledgerplane/plugin`). It exports types, functions that check declarations
 * at compile time, and the error that plugins may throw. The platform validates a plugin's export before use.
 */
import type { PluginLogger } from './public/logger.ts';
import type { PluginObject, Typed, TypeName } from './public/object.ts';
import type { ReconcilerDeclaration } from './public/reconciler.ts';
import type { ControllerDeclaration, RouteDeclaration, SocketDeclaration } from './public/route.ts';
import type { ObjectOfSchema } from './public/schema.ts';
import type { DefinedType, JsonSchema, TypeDeclaration } from './public/declared-type.ts';

export { ClientError } from './public/client.ts';
export type { Client, ClientErrorMembers, ClientList, ClientListQuery, ClientPreconditions } from './public/client.ts';
export type { PluginLogger } from './public/logger.ts';
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
} from './public/route.ts';
export { checkIfMatch, objectResponse } from './public/own/entity-tag.ts';
export { listBody } from './public/own/list-body.ts';
export { ownObjects, type OwnObjects, type OwnVerb } from './public/own/own-objects.ts';
export { escapeSelectorValue, readPageParameters, type PageParameters } from './public/own/parameters.ts';
export type { FromSchema, ObjectOfSchema } from './public/schema.ts';
export type {
  DefinedType,
  HookContext,
  HookViolation,
  IndexSpec,
  IndexType,
  IndexValue,
  JsonSchema,
  TypeDeclaration,
  TypeHooks,
} from './public/declared-type.ts';

export type PluginDefinition = {
  readonly types?: readonly TypeDeclaration<never>[];
  readonly controllers?: readonly ControllerDeclaration[];
  readonly routes?: readonly RouteDeclaration[];
  readonly sockets?: readonly SocketDeclaration[];
  readonly reconcilers?: readonly ReconcilerDeclaration<never>[];
  /**
   * Called when the plugin stops, after its routes, sockets, types and reconcilers are removed. End timers and remove
   * listeners here. An error is logged and otherwise ignored. The time limit is the same as for the plugin's start.
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

/** The default export of a plugin's module: a definition, or a function that returns a definition for a context. */
export function definePlugin(definition: PluginDefinition): PluginDefinition;
export function definePlugin(define: DefinePlugin): DefinePlugin;
export function definePlugin(plugin: PluginDefinition | DefinePlugin): PluginDefinition | DefinePlugin {
  return plugin;
}

/**
 * Declares a type. The TypeScript type of its objects, which its index functions receive, is derived from `schema`.
 * Where the derived type is not precise enough, use `defineType<MyObject>`.
 */
export function defineType<const Schema extends JsonSchema, const Plural extends string>(
  declaration: SchemaDeclaration<Schema, Plural>,
): DefinedType<ObjectOfSchema<Schema>>;
export function defineType<T = PluginObject>(declaration: TypeDeclaration<T>): DefinedType<T>;
export function defineType(declaration: TypeDeclaration<never>): TypeDeclaration<never> {
  return declaration;
}

/** This type has two parameters, so that a call of `defineType` with one type argument selects the other overload. */
type SchemaDeclaration<Schema extends JsonSchema, Plural extends string> = Omit<
  TypeDeclaration<ObjectOfSchema<Schema>>,
  'schema' | 'plural'
> & { readonly schema: Schema; readonly plural: Plural };

/**
 * Declares a reconciler. The TypeScript type of its objects is derived from `type`. Where `type` has only names, use
 * `defineReconciler<MyObject>`.
 */
export function defineReconciler<T = PluginObject>(
  declaration: ReconcilerDeclaration<T> & { readonly type: TypeName & Typed<T> },
): ReconcilerDeclaration<never> {
  return declaration;
}
