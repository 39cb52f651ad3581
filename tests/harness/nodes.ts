import type { SQL } from 'bun'
import { cp, rm } from 'node:fs/promises'
import { startPostgres, type PostgresServer } from './postgres-server'
import { startDatabaseWire, type DatabaseWire } from '../money/database-wire'
import { sendRequest, messages, toStream, type Json, type Stream } from './http'
import { nanosOf } from './ledger'
import { newDataDir, startGateway, type Customer, type Gateway } from './server'
import { startFakeProvider, type FakeProvider } from './upstreams/fake-provider'
import { eventually } from '../../server/testing/eventually'

type Environment = Record<string, string>

/** Nodes that share their own PostgreSQL, and a fake provider. */
export interface Nodes extends AsyncDisposable {
  postgres: PostgresServer
  upstream: FakeProvider
  sql: SQL
  all: Gateway[]
  /** Node `index`. */
  at: (index: number) => Gateway
  /** Its connection to the database, which can be slowed or cut. */
  wireOf: (index: number) => DatabaseWire
  /** Registers `fake/<name>`; at 1 and 4 USD unless `fields` say otherwise. Known to all nodes. */
  model: (name: string, fields?: Json) => Promise<string>
  /** Creates a customer with exactly that many nano-dollars. */
  customer: (credit: bigint) => Promise<Customer>
  /** Sends a chat completion for `fake/<name>`, plain or streamed. */
  chat: (on: Gateway, customer: Customer, chatRequest: ChatRequest) => Promise<Stream>
  /** Returns the smallest hold of that request. */
  floorOf: (chatRequest: ChatRequest) => Promise<bigint>
  /** Copies the current disk of another node to a node that was never started. */
  copyDisk: (from: number, to: number) => Promise<void>
  /** Restarts a node on its directory; `own` has its further settings. */
  restart: (index: number, own?: Environment) => Promise<Gateway>
}

export interface ChatRequest extends Json {
  name: string
}

interface Shared {
  postgres: PostgresServer
  environment: Environment
  dataDirs: string[]
  wires: DatabaseWire[]
  all: Gateway[]
}

async function start(shared: Shared, index: number, own: Environment = {}): Promise<Gateway> {
  const { postgres, environment, dataDirs, wires, all } = shared
  const dataDir = (dataDirs[index] ??= await newDataDir())
  const wire = (wires[index] ??= await startDatabaseWire({ port: postgres.port }))
  const url = new URL(postgres.url)
  url.port = String(wire.port)
  const gateway = await startGateway({
    dataDir,
    environment: { ...environment, ...own, DATABASE_URL: url.href },
  })
  all[index] = gateway
  return gateway
}

const found = <Item>(items: readonly Item[], index: number): Item => {
  const item = items[index]
  if (item === undefined) throw new Error(`there is no node ${index}`)
  return item
}

/** Registers the fake provider as `fake`. */
export async function connectProvider({ admin }: Gateway, { url }: FakeProvider): Promise<void> {
  await admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai', base_url: url })
  const api_key = 'sk-fake-0123456789'
  await admin('POST', '/connections', { name: 'fake', provider: 'fake', api_key })
}

/** The time in which a worker receives notifications of another process. */
const heardMs = 300
/** The most that a node needs, on any machine. */
const maxHeardMs = 30_000
/** A node without its database answers later, or never. */
const answerMs = 15_000

/** Tells whether a node lists a model for a customer; undefined for a node that does not answer now. */
async function lists({ url }: Gateway, { key }: Customer, id: string) {
  const headers = { authorization: `Bearer ${key}` }
  const signal = AbortSignal.timeout(answerMs)
  try {
    const response = await fetch(`${url}/v1/models`, { headers, signal })
    const text = await response.text()
    return response.ok ? text.includes(`"${id}"`) : undefined
  } catch {
    return undefined
  }
}

/** Waits until all nodes that answer list a model, if the first one does: one that cannot be called is not listed. */
async function waitUntilListed(all: readonly Gateway[], customer: Customer, id: string) {
  const [first, ...others] = all.filter((gateway) => !gateway.hasExited())
  if (!first || !(await lists(first, customer, id))) return
  for (const other of others)
    // One that is cut off from the database hears of it later.
    await eventually(async () => (await lists(other, customer, id)) !== false, maxHeardMs).catch(
      () => undefined,
    )
}

const models = (all: readonly Gateway[], customer: () => Customer) => {
  const known = new Map<string, Promise<unknown>>()
  return async (name: string, fields: Json = {}) => {
    const id = `fake/${name}`
    const add = async () => {
      const pricing = { input: 1, output: 4 }
      const model = { id, name, category: 'chat', context_length: 8192, max_output_tokens: 4096 }
      await found(all, 0).admin('POST', '/models', { ...model, pricing, ...fields })
      await Bun.sleep(heardMs)
      await waitUntilListed(all, customer(), id)
    }
    const adding = known.get(id) ?? add()
    known.set(id, adding)
    await adding
    return id
  }
}

/** Starts `count` nodes with their own PostgreSQL, without a minimum balance. */
export async function startNodes(count: number, own: Environment = {}): Promise<Nodes> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startPostgres())
  const upstream = stack.use(await startFakeProvider())
  const environment = environmentOf(own)
  const shared: Shared = { postgres, environment, dataDirs: [], wires: [], all: [] }
  stack.defer(async () => {
    await Promise.all(shared.all.map((gateway) => gateway[Symbol.asyncDispose]()))
    await Promise.all(shared.wires.map((wire) => wire[Symbol.asyncDispose]()))
    for (const path of shared.dataDirs) await rm(path, { recursive: true, force: true })
  })
  for (let index = 0; index < count; index++) await start(shared, index)
  const at = (index: number) => found(shared.all, index)
  await connectProvider(at(0), upstream)
  const sql = stack.use(postgres.connect())
  const model = models(shared.all, () => penniless)
  const customer = (credit: bigint) => at(0).customer({}, { credit: Number(credit) / 1e9 })
  const penniless = await customer(0n)
  const chat: Nodes['chat'] = async (on, { key }, { name, ...fields }) =>
    toStream(
      await sendRequest(on, { key, body: { model: await model(name), messages, ...fields } }),
    )
  const open = stack.move()
  return {
    postgres,
    upstream,
    sql,
    all: shared.all,
    at,
    wireOf: (index) => found(shared.wires, index),
    model,
    customer,
    chat,
    floorOf: async (chatRequest) => {
      const { status, error } = await chat(at(0), penniless, chatRequest)
      if (status !== 402) throw new Error(`${chatRequest.name}: ${status} without credit`)
      return nanosOf(error.details?.['minimum_required'])
    },
    copyDisk: async (from, to) => {
      const path = await newDataDir()
      await cp(at(from).dataDir, path, { recursive: true })
      shared.dataDirs[to] = path
    },
    restart: (index, only) => start(shared, index, only),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

const environmentOf = (own: Environment): Environment => ({
  ADMIN_KEY: `admin-of-nodes-${crypto.randomUUID()}`,
  ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
  MINIMUM_BALANCE_USD: '0',
  LOG_LEVEL: 'warn',
  ...own,
})
