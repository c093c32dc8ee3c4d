/** Declares `.vue` files as components, for tools that do not read the files themselves. */
declare module '*.vue' {
  import type { DefineComponent } from 'vue';

  const component: DefineComponent;
  export default component;
}
