// Builds the dashboard that the daemon serves: index.html, and files whose names have the hash of their content.
import { defineConfig } from 'vite';
import { licences } from './licences';

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  plugins: [{ name: 'licences', transformIndexHtml: (html) => html.replace('</body>', () => `  ${licences()}\n  </body>`) }],
  build: {
    target: 'es2021',
    outDir: 'dist/pages',
    modulePreload: false,
    assetsInlineLimit: 0, // the policy allows no data: addresses
  },
});
