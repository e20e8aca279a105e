// The licences of the libraries that stand in built pages, as they demand.
import { readFileSync } from 'node:fs';

export function licences(): string {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  const texts = Object.keys(dependencies).map((name) => `${name}:\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}`);
  return `<!-- The script of this page contains these libraries.\n\n${texts.join('\n\n').replaceAll('--', '- -')}\n-->`;
}
