import { type IncomingMessage, request, type RequestOptions } from 'node:http'
import { z } from 'zod'
import { systemClock, type Clock } from '../../platform/clock'

/** A server on this machine that offers the OpenAI format. */
export interface LocalServer {
  server: 'ollama' | 'vllm' | 'lmstudio' | 'llamacpp'
  /** Without a final slash. */
  baseUrl: string
  /** The environment variable that held the key of the request, if any. */
  keyVariable?: string
  /** `contextLength` is tokens, where the server states its maximum. */
  models: { id: string; contextLength?: number }[]
}

export interface Discovery {
  /** The port of this process, which is never probed. */
  ownPort: number
  /** The timeout of each request, with its answer. */
  timeoutMs?: number | undefined
  /** Replaces the usual ports. */
  bases?: readonly Base[]
  /** `OLLAMA_HOST`, where it names this machine, and the keys of servers that require one. */
  environment?: Readonly<Record<string, string | undefined>>
  clock?: Clock
}

interface Base {
  baseUrl: string
  /** Names the key that the server usually found there would require. */
  keyVariable?: string
}

const limitBytes = 1_000_000
const ollamaPort = 11_434

/**
 * Finds a running Ollama, vLLM, LM Studio and llama.cpp on loopback. All are probed at once; a port without a timely
 * and expected answer counts as absent. Never throws.
 */
export async function findLocalServers(discovery: Discovery): Promise<LocalServer[]> {
  const { environment = {}, timeoutMs = 300, clock = systemClock } = discovery
  const bases = discovery.bases ?? usualBases(environment)
  const others = bases.filter(({ baseUrl }) => portOf(baseUrl) !== discovery.ownPort)
  const foundServers = await Promise.all(
    others.map((base) => identify(base, { environment, timeoutMs, clock })),
  )
  return foundServers.filter((server) => server !== undefined)
}

const usualBases = (environment: NonNullable<Discovery['environment']>): Base[] => [
  // OLLAMA_API_KEY belongs to Ollama's hosted service and must not go to another server that listens here.
  { baseUrl: ollamaBase(environment['OLLAMA_HOST']) },
  { baseUrl: 'http://127.0.0.1:8000/v1', keyVariable: 'VLLM_API_KEY' },
  { baseUrl: 'http://127.0.0.1:1234/v1', keyVariable: 'LMSTUDIO_API_KEY' },
  { baseUrl: 'http://127.0.0.1:8080/v1', keyVariable: 'LLAMACPP_API_KEY' },
]

/** Parses `OLLAMA_HOST`, an address with or without scheme and port; a remote one is not probed. */
function ollamaBase(setting = ''): string {
  const usual = `http://127.0.0.1:${ollamaPort}/v1`
  const written = setting.includes('://') ? setting : `http://${withPort(setting)}`
  const url = URL.parse(written)
  if (url?.protocol !== 'http:') return usual
  // A server that listens on all interfaces is reached on loopback.
  const host = ['0.0.0.0', '[::]'].includes(url.hostname) ? '127.0.0.1' : url.hostname
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)) return usual
  return `http://${host}:${url.port || 80}/v1`
}

function withPort(host: string): string {
  const hostWithName = host.startsWith(':') ? `127.0.0.1${host}` : host
  return /:\d+$/.test(hostWithName) ? hostWithName : `${hostWithName}:${ollamaPort}`
}

const portOf = (baseUrl: string) => Number(URL.parse(baseUrl)?.port || 80)

interface SearchOptions {
  timeoutMs: number
  environment: Readonly<Record<string, string | undefined>>
  clock: Clock
}

const Models = z.object({
  data: z.array(
    z.object({
      id: z.string().min(1).max(200),
      owned_by: z.string().nullish().catch(undefined),
      max_model_len: z.int().positive().optional().catch(undefined),
    }),
  ),
})
type Models = z.infer<typeof Models>['data']

async function identify(base: Base, search: SearchOptions): Promise<LocalServer | undefined> {
  const { baseUrl, keyVariable } = base
  const { timeoutMs, clock } = search
  const key = keyVariable === undefined ? undefined : search.environment[keyVariable]
  const get = <T>(url: string, schema: z.ZodType<T>) =>
    answer(url, schema, { timeoutMs, key, clock })
  const models = (await get(`${baseUrl}/models`, Models))?.data
  if (!models) return undefined
  const knownServer = await identifyByModels(models, (path, schema) =>
    get(new URL(path, baseUrl).href, schema),
  )
  if (!knownServer) return undefined
  return { ...knownServer, baseUrl, ...(keyVariable !== undefined && key ? { keyVariable } : {}) }
}

type Get = <T>(path: string, schema: z.ZodType<T>) => Promise<T | undefined>

const Version = z.object({ version: z.string() })
const Props = z.object({
  default_generation_settings: z.object({ n_ctx: z.int().positive().optional() }),
})
const LmStudioModels = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      loaded_context_length: z.int().positive().optional(),
      max_context_length: z.int().positive().optional(),
    }),
  ),
})

/** Identifies the server of these models: by its own name for itself, else by a path that only it has. */
async function identifyByModels(
  models: Models,
  get: Get,
): Promise<Pick<LocalServer, 'server' | 'models'> | undefined> {
  const owners = new Set(models.map((model) => model.owned_by))
  if (owners.has('vllm')) return { server: 'vllm', models: vllmModels(models) }
  const [ollama, lmStudio, vllm, props] = await Promise.all([
    get('/api/version', Version),
    get('/api/v0/models', LmStudioModels),
    get('/version', Version),
    get('/props', Props),
  ])
  const context = props?.default_generation_settings.n_ctx
  if (owners.has('llamacpp'))
    return { server: 'llamacpp', models: withContext(models, () => context) }
  if (lmStudio) {
    const lengths = new Map(
      lmStudio.data.map((model) => [
        model.id,
        model.loaded_context_length ?? model.max_context_length,
      ]),
    )
    return { server: 'lmstudio', models: withContext(models, ({ id }) => lengths.get(id)) }
  }
  // The context length is a setting that Ollama does not show here.
  if (ollama) return { server: 'ollama', models: withContext(models, () => undefined) }
  if (props) return { server: 'llamacpp', models: withContext(models, () => context) }
  return vllm && { server: 'vllm', models: vllmModels(models) }
}

const vllmModels = (models: Models) => withContext(models, (model) => model.max_model_len)

const withContext = (models: Models, lengthOf: (model: Models[number]) => number | undefined) =>
  models.map((model) => {
    const contextLength = lengthOf(model)
    return { id: model.id, ...(contextLength === undefined ? {} : { contextLength }) }
  })

interface FetchOptions {
  timeoutMs: number
  key: string | undefined
  clock: Clock
}

async function answer<T>(
  url: string,
  schema: z.ZodType<T>,
  { timeoutMs, key, clock }: FetchOptions,
): Promise<T | undefined> {
  const stop = new AbortController()
  using _timer = clock.after(timeoutMs, () => stop.abort())
  try {
    const headers = key ? { authorization: `Bearer ${key}` } : {}
    const response = await open(url, { headers, signal: stop.signal })
    const text = await boundedText(response, stop.signal)
    return response.statusCode === 200 ? schema.safeParse(JSON.parse(text)).data : undefined
  } catch {
    // No server, too slow, too long or not JSON: in each case not a known server.
    return undefined
  }
}

// Not `fetch`, which would use a proxy of the environment even for an address on this machine.
const open = (url: string, options: RequestOptions) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { ...options, agent: false }, resolve)
      .on('error', reject)
      .end()
  })

/** Reads a text. Throws once more than `limitBytes` have arrived, or when `signal` aborts. */
async function boundedText(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const cut = () => response.destroy(new Error('too slow'))
  signal.addEventListener('abort', cut, { once: true })
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.byteLength
      // Leaving the loop closes the connection.
      if (size > limitBytes) throw new Error(`more than ${limitBytes} bytes`)
      chunks.push(chunk)
    }
  } finally {
    signal.removeEventListener('abort', cut)
  }
  return Buffer.concat(chunks).toString('utf8')
}
