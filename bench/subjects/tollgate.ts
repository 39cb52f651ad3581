import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '../../tests/harness/database'
import { newDataDir, startGateway, type Customer, type Gateway } from '../../tests/harness/server'
import { startPostgres, type PostgresServer } from '../../tests/harness/postgres-server'
import { ownServices } from '../process-tree'
import { canned } from '../upstream/answers'
import { startProvider, type Provider } from '../upstream/provider'
import { auditOf, checkMoney, type Address } from './money'
import type { Governance } from './governance'
import { startOwnRedis } from './services'
import { firstAnswer, type Subject } from './subject'

type Environment = Record<string, string>

/** Settings of production, in place of the tests' defaults. */
const asOperated = { WORKERS: '1', BREAKER_SECONDS: '30', LOG_LEVEL: 'warn' }

/** Marks the provider as one that bills abandoned answers in full, so that bill and ledger can be compared. */
const billsAll = (provider: Provider): Environment => ({
  GROQ_API_KEY: 'gsk_0123456789abcdef',
  GROQ_BASE_URL: `http://127.0.0.1:${provider.port}/v1`,
})

/** The category of a model, and how it is priced where not by tokens of the prompt and of the answer. */
const special: Record<string, { category: string; pricing?: object }> = {
  embed: { category: 'embedding', pricing: { input: 1, output: 0 } },
  image: { category: 'image' },
  speech: { category: 'speech', pricing: { input: 0, output: 0, input_characters: 1 } },
  transcription: { category: 'transcription' },
}

const media = new Set(['image', 'speech', 'transcription'])

/** Models of text: an earlier version may not know the categories of the others. */
const textModels = Object.keys(canned).filter(
  (model) => !media.has(special[model]?.category ?? 'chat'),
)

/** Creates the provider, its models, and a customer with credit. */
async function provision(
  gateway: Gateway,
  { port }: Provider,
  models = Object.keys(canned),
): Promise<Customer> {
  const base_url = `http://127.0.0.1:${port}/v1`
  const own = { key: 'bench', name: 'Bench', adapter: 'openai', base_url }
  await gateway.admin('POST', '/providers', own)
  const connection = { name: 'bench', provider: 'bench', api_key: 'secret-1' }
  await gateway.admin('POST', '/connections', connection)
  for (const model of models) {
    for (const provider of ['bench', 'groq']) {
      await gateway.admin('POST', '/models', {
        id: `${provider}/${model}`,
        name: model,
        category: 'chat',
        context_length: 131_072,
        max_output_tokens: 4096,
        pricing: { input: 1, output: 4 },
        ...special[model],
      })
    }
  }
  return gateway.customer()
}

const modelOf = (model: string, isAborted: boolean) => `${isAborted ? 'groq' : 'bench'}/${model}`

interface Own {
  name: string
  title: string
  governance?: Governance
  preload?: string
  environment?: Environment
  /** The path of another version's tree. */
  tree?: string | undefined
}

/** Starts one server with its embedded database. */
async function startOne(own: Own): Promise<Subject> {
  const { name, title, preload, tree, governance } = own
  await using stack = new AsyncDisposableStack()
  const provider = stack.use(await startProvider())
  const dataDir = await newDataDir()
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const environment = { ...asOperated, ...billsAll(provider), ...own.environment }
  const options = {
    environment,
    dataDir,
    ...(preload !== undefined && { preload }),
    ...(tree !== undefined && { tree }),
  }
  const firstAt = performance.now()
  const first = await startGateway(options)
  const firstStartMs = performance.now() - firstAt
  const { key } = await provision(first, provider, tree === undefined ? undefined : textModels)
  await first.stop()
  const startedAt = performance.now()
  const gateway = stack.use(await startGateway(options))
  const subject = {
    name,
    title,
    ...(governance && { governance }),
    ports: [Number(new URL(gateway.url).port)],
    pids: [gateway.pid],
    provider,
    headers: { authorization: `Bearer ${key}` },
    modelOf,
  }
  await firstAnswer(subject)
  const startMs = performance.now() - startedAt
  const address: Address = { environment: { DATA_DIR: dataDir }, open: () => openDatabase(dataDir) }
  const all = stack.move()
  return {
    ...subject,
    startMs,
    firstStartMs,
    ...(preload === undefined &&
      tree === undefined && {
        verify: async (requests: number) => [
          ...(await checkMoney(address, provider, requests + 1)),
          await auditOf(address),
        ],
      }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Starts Tollgate with everything on: keys, limits, holds, journal, logs. */
export const startTollgate = () =>
  startOne({
    name: 'tollgate',
    title: 'Tollgate, everything on',
    governance: {
      setting: 'governed',
      keys: 'of accounts',
      limits: 'requests, tokens and concurrency of an account',
      budgets: 'prepaid credit, held before a request and charged to the nano-dollar',
      logs: 'a row a request',
      services: 'PostgreSQL',
    },
  })

export const startWithoutMoney = () =>
  startOne({
    name: 'tollgate-free',
    title: 'Tollgate, money and limits off',
    // Its keys and request logs have no switch.
    governance: {
      setting: 'bare',
      keys: 'of accounts',
      logs: 'a row a request',
      services: 'PostgreSQL',
    },
    preload: join(import.meta.dir, '../without-money.ts'),
  })

/** Starts an earlier version of Tollgate, whose tree is at `tree` with its packages installed. */
export async function startEarlier(tree: string): Promise<Subject> {
  const environment = await engineOf(tree)
  return startOne({
    name: 'tollgate-earlier',
    title: 'Tollgate, earlier version',
    tree,
    environment,
  })
}

/** Returns the settings of the engine with which the launcher of a tree starts it. */
async function engineOf(tree: string): Promise<Environment> {
  const script = `import { engineEnvironment } from ${JSON.stringify(join(tree, 'bin/engine.mjs'))}
    const { environment } = engineEnvironment({})
    for (const [name, value] of Object.entries(environment)) if (value) console.log(name + '=' + value)`
  const child = Bun.spawn(['node', '--input-type=module', '--eval', script], { stdout: 'pipe' })
  const lines = (await child.stdout.text()).trim().split('\n')
  return Object.fromEntries(lines.map((line) => line.split('=', 2)))
}

/** Starts two workers on one port and the embedded database; the kernel distributes connections between them. */
export const startWorkers = () =>
  startOne({
    name: 'tollgate-workers',
    title: 'Tollgate, two workers on one port',
    environment: { WORKERS: '2' },
  })

/** The settings of a process with these services. */
const withServices = (provider: Provider, services: Environment): Environment => ({
  ...asOperated,
  ...billsAll(provider),
  ADMIN_KEY: `admin-of-bench-${crypto.randomUUID()}`,
  ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
  ...services,
})

/** Starts one process on a PostgreSQL that its caller stops. */
export async function startOn(postgres: PostgresServer): Promise<Subject> {
  await using stack = new AsyncDisposableStack()
  const provider = stack.use(await startProvider())
  const startedAt = performance.now()
  const environment = withServices(provider, { DATABASE_URL: postgres.url })
  const gateway = stack.use(await startGateway({ environment }))
  const { key } = await provision(gateway, provider)
  const subject = {
    name: 'tollgate-on',
    title: 'Tollgate on a PostgreSQL',
    ports: [Number(new URL(gateway.url).port)],
    pids: [gateway.pid],
    provider,
    headers: { authorization: `Bearer ${key}` },
    modelOf,
  }
  await firstAnswer(subject)
  const startMs = performance.now() - startedAt
  const all = stack.move()
  return { ...subject, startMs, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Starts two processes with one PostgreSQL and one Redis; the load is distributed over them. */
export async function startTwo(): Promise<Subject> {
  await using stack = new AsyncDisposableStack()
  const provider = stack.use(await startProvider())
  const before = ownServices()
  const redis = stack.use(await startOwnRedis())
  const postgres = stack.use(await startPostgres())
  const environment = withServices(provider, {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
  })
  const one = stack.use(await startGateway({ environment }))
  const { key } = await provision(one, provider)
  const startedAt = performance.now()
  const two = stack.use(await startGateway({ environment }))
  const services = ownServices().filter((pid) => !before.includes(pid))
  const subject = {
    name: 'tollgate-2',
    title: 'Tollgate, two processes, PostgreSQL and Redis',
    ports: [two, one].map(({ url }) => Number(new URL(url).port)),
    pids: [one.pid, two.pid, ...services],
    provider,
    headers: { authorization: `Bearer ${key}` },
    modelOf,
  }
  await firstAnswer(subject)
  const startMs = performance.now() - startedAt
  const address: Address = {
    environment: { DATABASE_URL: postgres.url },
    open: async () => postgres.connect(),
  }
  const all = stack.move()
  return {
    ...subject,
    startMs,
    verify: async (requests) => [
      ...(await checkMoney(address, provider, requests + 1)),
      await auditOf(address),
    ],
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
