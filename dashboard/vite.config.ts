// Builds one page into one file: its script and its style stand in it, and its content security policy allows nothing else.
// The licences of the libraries in the script stand in it as well, as they demand.
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { licences } from './licences';

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function inline(): Plugin {
  return {
    name: 'inline',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const pages = Object.values(bundle).filter((f) => f.fileName.endsWith('.html'));
      let script = '';
      let style = '';
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === 'chunk') script += file.code;
        else if (name.endsWith('.css')) style += String(file.source);
        else continue;
        delete bundle[name];
      }
      script = script.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
      style = style.trim();
      const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
      for (const page of pages) {
        if (page.type !== 'asset') continue;
        page.source = String(page.source)
          .replace(/\s*<script type="module"[^>]*><\/script>/, '')
          .replace(/\s*<link rel="stylesheet"[^>]*>/, '')
          .replace('<title>', () => `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n    <title>`)
          .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
          .replace('</body>', () => `  <script type="module">${script}</script>\n    ${licences()}\n  </body>`);
      }
    },
  };
}

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  plugins: [inline()],
  build: {
    target: 'es2021',
    modulePreload: false,
    rollupOptions: { input: 'report.html', output: { inlineDynamicImports: true } },
  },
  test: { include: ['src/**/*.test.ts'] },
});
