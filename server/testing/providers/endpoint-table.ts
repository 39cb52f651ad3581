import { join } from 'node:path'
import { loadBuiltInModels } from '../../src/catalog/built-in'
import type { Category } from '../../src/catalog/model'
import { servesKind } from '../../src/catalog/served-kinds'
import type { Provider } from '../../src/providers/provider'
import { providers } from '../../src/providers/registry'
import { toTable } from '../wire/docs-table'

/** Endpoints that serve models of the same kind: a column of the table. */
interface EndpointColumn {
  kind: Category
  paths: readonly string[]
}

const columns: readonly EndpointColumn[] = [
  {
    kind: 'chat',
    paths: ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/completions'],
  },
  { kind: 'embedding', paths: ['/v1/embeddings'] },
  { kind: 'moderation', paths: ['/v1/moderations'] },
  { kind: 'rerank', paths: ['/v1/rerank'] },
  {
    kind: 'image',
    paths: ['/v1/images/generations', '/v1/images/edits', '/v1/images/variations'],
  },
  { kind: 'speech', paths: ['/v1/audio/speech'] },
  { kind: 'transcription', paths: ['/v1/audio/transcriptions', '/v1/audio/translations'] },
]

const dialectNames = {
  openai: 'OpenAI',
  sandbox: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  vertex: 'Google, Anthropic, OpenAI',
  bedrock: 'Bedrock',
  cohere: 'Cohere',
  azure: 'OpenAI, Anthropic',
} as const satisfies Record<Provider['dialect'], string>

/** Returns the paths of the OpenAPI description. */
async function readPaths(): Promise<ReadonlySet<string>> {
  const file = Bun.file(join(import.meta.dir, '../../../openapi.json'))
  const { paths }: { paths: Record<string, unknown> } = await file.json()
  return new Set(Object.keys(paths))
}

/**
 * The table of docs/operate/providers.md of the endpoints that each provider of the registry serves, made from what
 * routing asks. An endpoint is a column once the OpenAPI description has it.
 */
export async function endpointTable(): Promise<string> {
  const paths = await readPaths()
  const served = columns
    .map(({ kind, paths: all }) => ({ kind, paths: all.filter((path) => paths.has(path)) }))
    .filter((column) => column.paths.length > 0)
  const inCatalogue = new Set(
    loadBuiltInModels(providers).map(({ provider, category }) => `${provider} ${category}`),
  )
  const cellOf = (provider: Provider, kind: Category) => {
    if (!servesKind(provider, kind)) return '–'
    return inCatalogue.has(`${provider.key} ${kind}`) ? 'yes' : 'own'
  }
  return toTable(
    [
      'Provider',
      'Dialect',
      ...served.map((column) => column.paths.map((path) => `\`${path}\``).join(', ')),
    ],
    providers.map((provider) => [
      `${provider.name} (\`${provider.key}\`)`,
      dialectNames[provider.dialect],
      ...served.map(({ kind }) => cellOf(provider, kind)),
    ]),
  )
}
