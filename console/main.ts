import './ui/tokens/tokens.css';
import './ui/tokens/base.css';
import './ui/controls/controls.css';

import { VueQueryPlugin } from '@tanstack/vue-query';
import { createApp } from 'vue';

import { applyTheme } from './app/theme.ts';
import { createConsoleRouter } from './app/router.ts';
import { FrontEnds } from './front-ends/front-ends.ts';
import { frontEndsKey } from './front-ends/use-front-ends.ts';
import { createTranslations } from './locales/i18n.ts';
import { languageKey } from './locales/use-language.ts';
import { followRights } from './server/follow-rights.ts';
import { createQueryClient } from './server/query-client.ts';
import { createServer } from './server/server.ts';
import { serverKey } from './server/use-server.ts';
import App from './app/app.vue';

applyTheme();
void start();

async function start(): Promise<void> {
  const server = createServer(location.origin);
  // The request runs while the messages load. Until it is answered, `App` shows a page of its own.
  void identified(server.identify);
  const translations = await createTranslations();
  const app = createApp(App);
  app.provide(serverKey, server);
  app.provide(languageKey, translations);
  const router = createConsoleRouter(server);
  app.provide(frontEndsKey, new FrontEnds(router, translations, () => server.platform.domain));
  const queryClient = createQueryClient(server);
  app.use(VueQueryPlugin, { queryClient });
  app.use(translations.i18n);
  app.use(router);
  app.mount('#app');
  followRights(server, queryClient);
  // After a start without a server, the user is asked for as soon as the server is reached.
  server.connection.onRestored(() => void identified(server.identify));
}

/** The page also starts if the server cannot be reached: it then shows this. */
async function identified(identify: () => Promise<void>): Promise<void> {
  try {
    await identify();
  } catch {
    // `ConnectionState` has noticed the failure, and probes.
  }
}
