/**
 * The one door for plugin code (`ledgerplane/plugin`): the types an author writes against, the functions that check them
 * while writing, and the error it may throw. The platform decodes what a plugin exports before it uses it.
 */
import type { PluginLogger } from './door/logger.ts';
import type { PluginObject, Typed, TypeName } from './door/object.ts';
import type { ReconcilerDeclaration } from './door/reconciler.ts';
import type { ControllerDeclaration, RouteDeclaration, SocketDeclaration } from './door/route.ts';
import type { ObjectOfSchema } from './door/schema.ts';
import type { DefinedType, JsonSchema, TypeDeclaration } from './door/declared-type.ts';

export { ClientError } from './door/client.ts';
export type { Client, ClientErrorMembers, ClientList, ClientListQuery, ClientPreconditions } from './door/client.ts';
export type { PluginLogger } from './door/logger.ts';
export type { ObjectMetadata, ObjectOf, OwnerReference, PluginObject, Typed, TypeName } from './door/object.ts';
export type { ReconcileOutcome, ReconcilerDeclaration, ReconcileRequest, WatchDeclaration } from './door/reconciler.ts';
export type {
  ControllerDeclaration, PluginSocket, RouteDeclaration, RouteHandler, RouteMethod, RouteRequest, RouteResponse, ServerSentEvent, SocketDeclaration, SocketHandler,
} from './door/route.ts';
export type { FromSchema, ObjectOfSchema } from './door/schema.ts';
export type { DefinedType, IndexSpec, IndexType, IndexValue, JsonSchema, TypeDeclaration } from './door/declared-type.ts';

export type PluginDefinition = {
  readonly types?: readonly TypeDeclaration<never>[];
  readonly controllers?: readonly ControllerDeclaration[];
  readonly routes?: readonly RouteDeclaration[];
  readonly sockets?: readonly SocketDeclaration[];
  readonly reconcilers?: readonly ReconcilerDeclaration<never>[];
  /**
   * Called when the plugin stops, after its routes, sockets, types and reconcilers are gone: the place to end timers and
   * listeners. What it throws is told and changes nothing; it has as long as a start.
   */
  readonly stop?: () => void | Promise<void>;
};

/** What a plugin's module may depend on when it says what it is. */
export type PluginContext = {
  /** The plugin's name: `metadata.name` of its plugin.yaml. */
  readonly name: string;
  /** The platform's domain: what `${domain}` stands for in the plugin's YAML files. */
  readonly domain: string;
  readonly log: PluginLogger;
};

export type DefinePlugin = (context: PluginContext) => PluginDefinition | Promise<PluginDefinition>;

/** The default export of a plugin's module: what it is, or a function that answers it once the context is known. */
export function definePlugin(definition: PluginDefinition): PluginDefinition;
export function definePlugin(define: DefinePlugin): DefinePlugin;
export function definePlugin(plugin: PluginDefinition | DefinePlugin): PluginDefinition | DefinePlugin {
  return plugin;
}

/**
 * A type whose index functions see its own objects. What these are is read off `schema`, so that it is said once; where
 * it cannot say enough, `defineType<MyObject>` says it.
 */
export function defineType<const Schema extends JsonSchema, const Plural extends string>(declaration: SchemaDeclaration<Schema, Plural>): DefinedType<ObjectOfSchema<Schema>>;
export function defineType<T = PluginObject>(declaration: TypeDeclaration<T>): DefinedType<T>;
export function defineType(declaration: TypeDeclaration<never>): TypeDeclaration<never> {
  return declaration;
}

/** Two type parameters, so that a call with one means the object's type. */
type SchemaDeclaration<Schema extends JsonSchema, Plural extends string> =
  Omit<TypeDeclaration<ObjectOfSchema<Schema>>, 'schema' | 'plural'> & { readonly schema: Schema; readonly plural: Plural };

/** A reconciler that sees the objects of the type it is given; `defineReconciler<MyObject>` says them where `type` is a name only. */
export function defineReconciler<T = PluginObject>(declaration: ReconcilerDeclaration<T> & { readonly type: TypeName & Typed<T> }): ReconcilerDeclaration<never> {
  return declaration;
}
