/** The page of the viewer. Relative paths allow a proxy to serve the page below a path prefix. */
export const viewerPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Ledgerplane API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png" sizes="32x32" />
  </head>
  <body>
    <div id="documents"></div>
    <noscript>This page requires JavaScript. The API document is at v3/api-docs.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/swagger-ui-standalone-preset.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/**
 * Starts the viewer with all API documents. Disables the public validator. A text replaces the viewer's logo, because
 * the content security policy refuses the inline style of the logo.
 */
export const viewerScript = `'use strict';
const show = (groups) => {
  SwaggerUIBundle({
    urls: [
      { name: 'Everything (OpenAPI 3.1)', url: 'v3/api-docs' },
      { name: 'Types (OpenAPI 2.0)', url: 'openapi/v2' },
      ...groups.map((name) => ({ name, url: 'openapi/v3/' + name })),
    ],
    dom_id: '#documents',
    deepLinking: true,
    docExpansion: 'none',
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [{ components: { Logo: () => 'Ledgerplane API' } }],
    layout: 'StandaloneLayout',
  });
};
fetch('openapi/v3')
  .then((answer) => (answer.ok ? answer.json() : { paths: {} }))
  .then(({ paths }) => show(Object.keys(paths)))
  .catch(() => show([]));
`;
