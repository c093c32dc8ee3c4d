/**
 * The only module for plugin code (`ledgerplane/plugin`): its types, the functions that check them at compile time, and
 * the error that plugins may throw. The platform decodes a plugin's export before it uses it.
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
   * Called when the plugin stops, after its routes, sockets, types and reconcilers are removed: end timers and
   * listeners here. An error is logged and changes nothing. Its time limit is that of a start.
   */
  readonly stop?: () => void | Promise<void>;
};

/** The context of a plugin's definition. */
export type PluginContext = {
  /** The plugin's name: `metadata.name` of its plugin.yaml. */
  readonly name: string;
  /** The platform's domain, which replaces `${domain}` in the plugin's YAML files. */
  readonly domain: string;
  readonly log: PluginLogger;
};

export type DefinePlugin = (context: PluginContext) => PluginDefinition | Promise<PluginDefinition>;

/** The default export of a plugin's module: a definition, or a function that returns one for a context. */
export function definePlugin(definition: PluginDefinition): PluginDefinition;
export function definePlugin(define: DefinePlugin): DefinePlugin;
export function definePlugin(plugin: PluginDefinition | DefinePlugin): PluginDefinition | DefinePlugin {
  return plugin;
}

/**
 * A type with typed objects in its index functions. Their type is derived from `schema`; where that is not precise
 * enough, use `defineType<MyObject>`.
 */
export function defineType<const Schema extends JsonSchema, const Plural extends string>(
  declaration: SchemaDeclaration<Schema, Plural>,
): DefinedType<ObjectOfSchema<Schema>>;
export function defineType<T = PluginObject>(declaration: TypeDeclaration<T>): DefinedType<T>;
export function defineType(declaration: TypeDeclaration<never>): TypeDeclaration<never> {
  return declaration;
}

/** Two type parameters, so that a call with one means the object's type. */
type SchemaDeclaration<Schema extends JsonSchema, Plural extends string> = Omit<
  TypeDeclaration<ObjectOfSchema<Schema>>,
  'schema' | 'plural'
> & { readonly schema: Schema; readonly plural: Plural };

/** A reconciler with typed objects, from `type`; use `defineReconciler<MyObject>` where `type` has only names. */
export function defineReconciler<T = PluginObject>(
  declaration: ReconcilerDeclaration<T> & { readonly type: TypeName & Typed<T> },
): ReconcilerDeclaration<never> {
  return declaration;
}
