import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import OpenAI from 'openai'
import { putEmbedded } from '../../server/testing/databases'
import { environmentOfGateways } from './gateway-environment'
import { hostGateway, spawnGateway, type GatewayProcess } from './gateway-process'
import { startRecorder, type Recorder } from './recorder'
import { dropSharedDatabase, sharedDatabase } from './shared-database'
import { startFakeProvider, type FakeProvider } from './upstreams/fake-provider'
import { eventually, WaitTimeoutError } from '../../server/testing/eventually'

const root = dirname(dirname(import.meta.dir))
const startLimitMs = 50_000
/** Whether all have the embedded database. */
const embedded = process.env['TEST_EMBEDDED']

type Environment = Record<string, string>
type Json = Record<string, unknown>

/** A Tollgate of the tests' own: one process, a database that nothing else uses, a temporary directory. */
export interface Gateway extends AsyncDisposable, GatewayProcess {
  /** Without a final slash. */
  url: string
  adminKey: string
  dataDir: string
  /** Judges every answer that its `fetch` and the clients of `customer` get. */
  recorder: Recorder
  /** Calls an operator endpoint. Throws when the answer is no success. */
  admin: (method: string, path: string, body?: Json) => Promise<Json>
  /**
   * A new account with a key, and the official client for it; `user` for its own fields. Its plan has
   * room for whatever a test does, unless `user` names another.
   */
  customer: (key?: Json, user?: Json) => Promise<Customer>
  /** Sends a signal and resolves with the exit code. */
  stop: (signal?: NodeJS.Signals) => Promise<number>
}

export interface Customer {
  userId: string
  keyId: string
  key: string
  /** Never retries. */
  client: OpenAI
}

export interface RigOptions {
  environment?: Environment
  /**
   * `embedded`, which takes seconds to start, is for what stops, kills or configures PostgreSQL. `shared` is a
   * database in the PostgreSQL of all tests, which a `dataDir` has again at its next start. By default a
   * `dataDir` or a `tree` has the embedded one, or where `TEST_EMBEDDED` is set.
   */
  database?: 'embedded' | 'shared'
  /** Where an earlier gateway left its data; kept at the end, as its own is not. */
  dataDir?: string
  /** The tree that it is started from, where that is not this one. */
  tree?: string
  /** A module that is loaded before the gateway's own. */
  preload?: string | readonly string[]
  /** The program that runs it, where that is not the one that runs the tests. */
  runtime?: string
  /** `own` for tests of the process itself; others may find a process that ran another gateway before. */
  process?: 'own'
}

/**
 * A directory that the account of the embedded database can pass, so that all of it goes away; `started` has
 * its cluster already, for tests of something else than the first start.
 */
export async function newDataDir(state: 'empty' | 'started' = 'empty'): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  await chmod(path, 0o711)
  if (state === 'started') await putEmbedded(path)
  return path
}

/** Removes what `newDataDir` made, and the database that belongs to it. */
async function removeDataDir(path: string): Promise<void> {
  await dropSharedDatabase(path)
  await rm(path, { recursive: true, force: true })
}

/** The data directory of a gateway, and what it has to be told of its database; `stack` removes both. */
async function storageOf(
  options: RigOptions,
  stack: AsyncDisposableStack,
): Promise<{ dataDir: string; database: Environment }> {
  const wanted =
    options.database ?? ((options.dataDir ?? options.tree ?? embedded) ? 'embedded' : 'shared')
  // Another tree may have another PostgreSQL.
  const state = wanted === 'embedded' && !options.tree ? 'started' : 'empty'
  const dataDir = options.dataDir ?? (await newDataDir(state))
  if (!options.dataDir) stack.defer(() => removeDataDir(dataDir))
  const isGiven = options.environment?.['DATABASE_URL'] !== undefined
  if (wanted === 'embedded' || isGiven) return { dataDir, database: {} }
  return { dataDir, database: await sharedDatabase(dataDir) }
}

/**
 * Returns whether a gateway may share a process with those before and after it. One that chooses its own program or
 * PostgreSQL does not.
 */
function isHosted(options: RigOptions, env: Environment): boolean {
  const { process: wanted, preload, tree, runtime, environment = {} } = options
  const isOwn = wanted === 'own' || preload !== undefined || tree !== undefined
  if (isOwn || runtime !== undefined || env['DATABASE_URL'] === undefined) return false
  // Not those that every gateway of the tests has.
  return !Object.keys(environment).some((name) => ownProcess.test(name))
}

/** Variables that are about the process. */
const ownProcess = /^(TOLLGATE_|WORKERS$)/

/** Starts the process of a gateway, or gets one, from the bundled server of the run if there is one. */
function launch(options: RigOptions, env: Environment): Promise<GatewayProcess> | GatewayProcess {
  const { TEST_GATEWAYS: hosts, TEST_SERVER: bundle } = process.env
  if (hosts !== undefined && isHosted(options, env)) return hostGateway(hosts, env)
  const preloads = [options.preload ?? []].flat().flatMap((path) => ['--preload', path])
  // A preloaded module may replace one of the sources.
  const program = (preloads.length === 0 && !options.tree && bundle) || 'server/src/main.ts'
  const runtime = options.runtime ?? process.execPath
  return spawnGateway([runtime, ...preloads, program], { cwd: options.tree ?? root, env })
}

/** Starts a gateway on a free port and waits until it is ready. Rejects with its output. */
export async function startGateway(options: RigOptions = {}): Promise<Gateway> {
  await using stack = new AsyncDisposableStack()
  const { dataDir, database } = await storageOf(options, stack)
  const { environment = {} } = options
  const env = { ...environmentOfGateways(), DATA_DIR: dataDir, ...database, ...environment }
  const gateway = await launch(options, env)
  const url = await addressOf(gateway, environment['PORT'])
  const adminKey =
    environment['ADMIN_KEY'] ?? (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim()
  const recorder = startRecorder()
  recorder.canary(adminKey)
  const admin = (method: string, path: string, body?: Json) =>
    call(`${url}/api/admin${path}`, { method, adminKey, body })
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (!gateway.hasExited()) process.kill(gateway.pid, signal)
    return gateway.exited
  }
  const owned = stack.move()
  return {
    url,
    adminKey,
    dataDir,
    recorder,
    ...gateway,
    admin,
    customer: (key = {}, user = {}) => newCustomer({ url, recorder, admin }, key, user),
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGTERM')
      await owned.disposeAsync()
    },
  }
}

async function addressOf(gateway: GatewayProcess, port: string | undefined): Promise<string> {
  const readAddress = () => /is ready at (https?:\S+)/.exec(gateway.output())?.[1]
  try {
    await eventually(() => readAddress() !== undefined || gateway.hasExited(), startLimitMs)
  } catch {
    process.kill(gateway.pid, 'SIGKILL')
    await gateway.exited
    throw new WaitTimeoutError(`a gateway, so far:\n${gateway.output()}`, startLimitMs)
  }
  const address = readAddress()
  if (address === undefined) {
    await gateway.exited
    throw new Error(`the gateway did not start:\n${gateway.output()}`)
  }
  // A public URL with https does not change where it listens.
  if (address.startsWith('https:') && port) return `http://127.0.0.1:${port}`
  return address.replace('localhost', '127.0.0.1')
}

interface AdminCall {
  method: string
  adminKey: string
  body: Json | undefined
}

async function call(url: string, { method, adminKey, body }: AdminCall): Promise<Json> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer: unknown = await response.json()
  if (!response.ok)
    throw new Error(`${method} ${url}: ${response.status} ${JSON.stringify(answer)}`)
  return typeof answer === 'object' && answer !== null ? { ...answer } : {}
}

let customers = 0

const roomy = {
  name: 'roomy',
  requests_per_minute: 1_000_000_000,
  tokens_per_minute: 2_000_000_000,
  concurrent_requests: 1_000_000,
}

/** A plan with room for tests of other things than limits; made where it is not there. */
async function roomyPlan(admin: Gateway['admin']): Promise<unknown> {
  const { plans } = await admin('GET', `/plans?search=${roomy.name}`)
  const [found] = Array.isArray(plans) ? plans : []
  return (found ?? (await admin('POST', '/plans', roomy))).id
}

async function newCustomer(
  { url, recorder, admin }: Pick<Gateway, 'url' | 'recorder' | 'admin'>,
  fields: Json,
  ownFields: Json,
): Promise<Customer> {
  customers += 1
  const email = `customer-${customers}-${Date.now()}@example.com`
  const plan_id = ownFields['plan_id'] ?? (await roomyPlan(admin))
  const { credit, ...userFields } = ownFields
  const user = await admin('POST', '/users', { email, ...userFields, plan_id })
  const userId = String(user['id'])
  // What most tests are not about.
  const amount = credit ?? 1_000_000
  if (amount !== 0)
    await admin('POST', '/credits/grant', { user_id: userId, amount, reason: 'test' })
  const made = await admin('POST', `/users/${userId}/keys`, { name: 'test', ...fields })
  const key = String(made['key'])
  recorder.canary(key)
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${url}/v1`,
    maxRetries: 0,
    fetch: recorder.fetch,
  })
  return { userId, keyId: String(made['id']), key, client }
}

/** The secret of the connection to the fake provider; it must never leave the gateway. */
export const upstreamSecret = 'sk-upstream-canary-4f1d9a7c52e86b03'

/** A gateway with the fake provider behind it. */
export interface Rig extends AsyncDisposable {
  gateway: Gateway
  upstream: FakeProvider
  /**
   * Registers `fake/<name>` unless it is there, and returns that id. `fields` go to
   * `POST /api/admin/models`; a chat model of 8,192 tokens at 1 and 4 USD otherwise.
   */
  model: (name: string, fields?: Json) => Promise<string>
}

/** Starts both, and connects them as provider `fake`. */
export async function startRig(options: RigOptions & { provider?: Json } = {}): Promise<Rig> {
  const upstream = await startFakeProvider()
  const gateway = await startGateway(options)
  gateway.recorder.canary(upstreamSecret)
  await gateway.admin('POST', '/providers', {
    key: 'fake',
    name: 'Fake',
    adapter: 'openai',
    base_url: upstream.url,
    ...options.provider,
  })
  await gateway.admin('POST', '/connections', {
    name: 'fake',
    provider: 'fake',
    api_key: upstreamSecret,
  })
  const known = new Map<string, Promise<unknown>>()
  return {
    gateway,
    upstream,
    async model(name, fields = {}) {
      const id = `fake/${name}`
      const adding =
        known.get(id) ??
        gateway.admin('POST', '/models', {
          id,
          name,
          category: 'chat',
          context_length: 8192,
          max_output_tokens: 4096,
          pricing: { input: 1, output: 4 },
          ...fields,
        })
      known.set(id, adding)
      await adding
      return id
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}
