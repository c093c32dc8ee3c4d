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
  // The request runs while the messages load. Until the response arrives, `App` shows the starting page.
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
  // Asks the server for the user again after a lost connection, because the request at the start may have failed.
  server.connection.onRestored(() => void identified(server.identify));
}

/** Never rejects, because the page also starts without a server and then shows that the server is unreachable. */
async function identified(identify: () => Promise<void>): Promise<void> {
  try {
    await identify();
  } catch {
    // `ConnectionState` has already detected the failure, and probes the server.
  }
}
