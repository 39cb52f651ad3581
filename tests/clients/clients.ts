import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Language = 'node' | 'python' | 'go' | 'java'

/** A client library, and a program that uses it as its users would. */
export interface Client {
  /** Its name on the command line, and the tag of its models at the fake provider. */
  name: string
  /** Its label in the table. */
  label: string
  language: Language
  /**
   * Folder under `programs/`; several clients may share one. Programs are self-contained on purpose, though they are
   * alike: each reads as a user of that library would write it, and runs by itself.
   */
  program: string
  /** Folder of the manifest; the program's own unless several share it. */
  manifest?: string
  /** Packages of the manifest whose versions the table lists. */
  packages: readonly string[]
  /** A framework, or a client of another service, in a table of its own: by column the cases of its program. */
  columns?: Columns
}

/** The cases of a program, by their column of the table. */
type Columns = Readonly<Record<string, readonly string[]>>

const openaiJs = (major: number): Client => ({
  name: `openai-js-${major}`,
  label: `OpenAI SDK for JavaScript, ${major}`,
  language: 'node',
  program: 'openai-js',
  manifest: `openai-js/${major}`,
  packages: ['openai'],
})

const python = (name: string, label: string, packages: readonly string[]): Client => ({
  name,
  label,
  language: 'python',
  program: name,
  packages,
})

const node = (name: string, label: string, packages: readonly string[]): Client => ({
  ...python(name, label, packages),
  language: 'node',
})

const aiSdk = (name: string, provider: string): Client => ({
  name,
  label: `Vercel AI SDK, \`${provider}\``,
  language: 'node',
  program: 'ai-sdk',
  packages: ['ai', provider],
})

/** In the order of the table. */
export const clients: readonly Client[] = [
  openaiJs(7),
  openaiJs(6),
  openaiJs(5),
  python('openai-python', 'OpenAI SDK for Python', ['openai']),
  {
    name: 'openai-go',
    label: 'OpenAI SDK for Go',
    language: 'go',
    program: 'openai-go',
    packages: ['github.com/openai/openai-go/v3'],
  },
  {
    name: 'openai-java',
    label: 'OpenAI SDK for Java',
    language: 'java',
    program: 'openai-java',
    packages: ['openai-java'],
  },
  node('anthropic-js', 'Anthropic SDK for JavaScript', ['@anthropic-ai/sdk']),
  python('anthropic-python', 'Anthropic SDK for Python', ['anthropic']),
  aiSdk('ai-sdk-openai', '@ai-sdk/openai'),
  aiSdk('ai-sdk-compatible', '@ai-sdk/openai-compatible'),
  node('langchain-js', 'LangChain for JavaScript', ['@langchain/openai']),
  python('langchain-python', 'LangChain for Python', ['langchain-openai']),
  python('llama-index', 'LlamaIndex', ['llama-index-core', 'llama-index-llms-openai-like']),
  python('litellm', 'litellm', ['litellm']),
]

export const columns: Columns = {
  chat: ['chat'],
  stream: ['stream'],
  tools: ['tools'],
  'second turn': ['second-turn'],
  'JSON schema': ['schema'],
  embeddings: ['embeddings'],
  speech: ['speech'],
  models: ['models'],
  errors: ['error-400', 'error-401', 'error-402', 'error-404', 'error-429'],
  'retries 503, 429': ['retry-503', 'retry-429'],
  '`x-should-retry: false`': ['no-retry'],
  abort: ['abort'],
  Responses: ['responses'],
}

export const frameworkColumns: Columns = {
  plain: ['chat'],
  stream: ['stream'],
  'second turn': ['second-turn'],
}

const framework = (client: Client): Client => ({ ...client, columns: frameworkColumns })

/** Frameworks, and clients of OpenRouter, each as it is by default. In the order of their table. */
export const frameworks: readonly Client[] = [
  framework(
    node('openai-agents-js', 'OpenAI Agents SDK for JavaScript, `previousResponseId`', [
      '@openai/agents',
    ]),
  ),
  framework(
    python('agent-framework', 'Microsoft Agent Framework for Python', ['agent-framework-openai']),
  ),
  framework(node('openrouter-js', 'OpenRouter SDK for JavaScript', ['@openrouter/sdk'])),
  framework(python('openrouter-python', 'OpenRouter SDK for Python', ['openrouter'])),
  framework(
    python('langchain-openrouter', 'LangChain for Python, `ChatOpenRouter`', [
      'langchain-openrouter',
    ]),
  ),
  framework(python('pydantic-ai', 'Pydantic AI, `OpenRouterModel`', ['pydantic-ai-slim'])),
]

export const mediaColumns: Columns = {
  images: ['images'],
  'images, streamed': ['images-stream'],
  edits: ['edits'],
  'edits, streamed': ['edits-stream'],
  variations: ['variations'],
  speech: ['speech'],
  'speech, streamed': ['speech-stream'],
  transcriptions: ['transcriptions'],
  'transcriptions, streamed': ['transcriptions-stream'],
  translations: ['translations'],
  moderations: ['moderations'],
}

/** A program for images and sound, with the manifest of the client that it belongs to. */
const media = (client: Client, program: string): Client => ({
  ...client,
  name: `${client.name}-media`,
  program,
  manifest: client.manifest ?? client.program,
  columns: mediaColumns,
})

/** Clients of images, sound and moderation, with models of several formats each. In the order of their table. */
export const mediaClients: readonly Client[] = [
  ...[7, 6, 5].map((major) => media(openaiJs(major), 'openai-js-media')),
  media(python('openai-python', 'OpenAI SDK for Python', ['openai']), 'openai-python-media'),
  media(aiSdk('ai-sdk-openai', '@ai-sdk/openai'), 'ai-sdk-media'),
  media(
    node('openrouter-js', 'OpenRouter SDK for JavaScript, `stt` and `tts`', ['@openrouter/sdk']),
    'openrouter-js-media',
  ),
  {
    ...python('open-webui', 'Open WebUI, its settings for images and audio', ['open-webui']),
    columns: mediaColumns,
  },
]

export const rankingColumns: Columns = {
  rank: ['rank'],
  'top results': ['top'],
  errors: ['error-401', 'error-404'],
}

const ranking = (client: Client): Client => ({ ...client, columns: rankingColumns })

/** Clients of rerankers, with models of several formats each. In the order of their table. */
export const rankingClients: readonly Client[] = [
  ranking(node('cohere-js', 'Cohere SDK for JavaScript, v1 and v2', ['cohere-ai'])),
  ranking(python('cohere-python', 'Cohere SDK for Python, v1 and v2', ['cohere'])),
  ranking(
    node('ai-sdk-rerank', 'Vercel AI SDK, `rerank` with `@ai-sdk/cohere`', [
      'ai',
      '@ai-sdk/cohere',
    ]),
  ),
  ranking(
    node('langchain-cohere-js', 'LangChain for JavaScript, `CohereRerank`', ['@langchain/cohere']),
  ),
  ranking(python('langchain-cohere', 'LangChain for Python, `CohereRerank`', ['langchain-cohere'])),
]

export const columnsOf = ({ columns: own = columns }: Client): Columns => own

export const casesOf = (client: Client): string[] => Object.values(columnsOf(client)).flat()

export const programsDir = join(import.meta.dir, 'programs')

const manifestNames: Record<Language, readonly string[]> = {
  node: ['package.json', 'package-lock.json'],
  python: ['requirements.txt'],
  go: ['go.mod', 'go.sum'],
  java: ['pom.xml'],
}

const folderOf = ({ program, manifest = program }: Client) => manifest

/** Returns the paths of the manifest files. */
export const manifestOf = (client: Client): string[] =>
  manifestNames[client.language]
    .map((name) => join(programsDir, folderOf(client), name))
    .filter((path) => existsSync(path))

const textOf = (client: Client): string =>
  manifestOf(client)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')

/** Returns the cache name of a manifest's installation, which differs for every text. */
export const nameFor = (name: string, manifest: string): string =>
  `${name}-${createHash('sha256').update(manifest).digest('hex').slice(0, 16)}`

/** Returns the cache name of a client's installation. */
export const installedAs = (client: Client): string =>
  nameFor(folderOf(client).replace('/', '-'), textOf(client))

/** Returns the versions, such as `openai 7.57.0`. Throws where the manifest does not pin one. */
export function versionsOf(client: Client): string {
  const manifest = textOf(client)
  return client.packages
    .map((name) => {
      const between = `(?:</artifactId>\\s*<version>|[\\s"':=]+v?)`
      const pinned = new RegExp(`(?<![\\w@/-])${RegExp.escape(name)}${between}(\\d[\\d.]*\\d)`)
      const [, version] = pinned.exec(manifest) ?? []
      if (!version) throw new Error(`The manifest of ${client.name} pins no version of ${name}.`)
      return `${name} ${version}`
    })
    .join(', ')
}
