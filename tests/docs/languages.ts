import { builtinModules } from 'node:module'

/** The commands of a shell block, each by itself, without comments. */
export const commandsOf = (code: string): string[] =>
  code
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line) => line.replace(/(^|\s)#.*$/, '').split('&&'))
    .map((command) => command.trim())
    .filter((command) => command !== '')

/**
 * The npm script that a command runs in a checkout, undefined for any other command. Such commands install,
 * test or serve: they take minutes or never end, so that they are looked up and not run again.
 */
export function scriptOf(command: string): string | undefined {
  const [, name, script] =
    /^(?:\w+=\S* )*npm (?:(ci|start|test)|run ([\w:-]+))(?: |$)/.exec(command) ?? []
  return name ?? script
}

/** The packages that a command installs for a client, undefined for any other command. */
export function packagesInstalledBy(command: string): string[] | undefined {
  const [, names] = /^(?:npm|pip) install ([^-].*)$/.exec(command) ?? []
  return names?.split(' ')
}

/** The packages that a program in JavaScript or TypeScript imports. */
export const packagesOf = (code: string): string[] =>
  [...code.matchAll(/(?:from|import) '([^'.][^']*)'/g)]
    .map(([, specifier = '']) => specifier)
    .filter((specifier) => !specifier.startsWith('node:') && !builtinModules.includes(specifier))
    .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)

/** What the checkout's own packages bring along, so that it can be run without installing anything. */
const atHand = new Set(['openai', '@anthropic-ai/sdk'])

export const isInstalled = (code: string): boolean =>
  packagesOf(code).every((name) => atHand.has(name))

export const shells = ['sh', 'bash']
export const programs = ['js', 'ts']
/** Languages whose blocks are run, read by a parser, plain text or diagrams; any other block says why it is not run. */
export const knownLanguages = [
  ...shells,
  ...programs,
  'python',
  'json',
  'yaml',
  'toml',
  'text',
  'mermaid',
]
