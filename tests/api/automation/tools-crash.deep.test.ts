import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createSessionClient } from './talk'
import { assignGateway } from './with-gateway'
import { startToolServer, type ToolServer } from './tool-server'
import { openDatabase } from '../../harness/database'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { internalUrl, scrapeWhenBooked } from '../../harness/scrape'
import { newDataDir, startGateway, type RigOptions } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

// A busy machine takes long to start one.
setDefaultTimeout(90_000)

let tools: ToolServer
let options: RigOptions & { dataDir: string }

beforeAll(async () => {
  tools = startToolServer()
  const preload = join(import.meta.dir, 'preloads/tools-by-http.ts')
  options = {
    dataDir: await newDataDir(),
    database: 'shared',
    preload,
    environment: { TOOLS_URL: tools.url, METRICS_PORT: '0' },
  }
})
afterAll(async () => {
  await tools[Symbol.asyncDispose]()
  await rm(options.dataDir, { recursive: true, force: true })
})

/** Gives a session the tools of the test. */
async function equip(id: string) {
  await using sql = await openDatabase(options.dataDir)
  await assignGateway(sql, id)
}

test('a node killed while a tool runs loses that step; finished steps are kept, and can be continued', async () => {
  const first = await startGateway(options)
  const customer = await first.customer()
  const theirs = createSessionClient(first, customer)
  // It calls two tools where both are asked for.
  const id = await theirs.session({ modelId: 'sandbox/tools' })
  await equip(id)
  // The second of two calls never ends.
  tools.run = () => (tools.ran.length === 1 ? 'Found.' : new Promise(() => undefined))
  const saying = theirs.send(id, 'Look at both.').catch(() => undefined)
  await eventually(async () => tools.ran.length === 2)
  await first.stop('SIGKILL')
  await saying

  await using again = await startGateway(options)
  await using sql = await openDatabase(options.dataDir)
  // The turn of the dead node runs out after 30 s.
  await sql`update automation_session set running_until = now() where id = ${id}`
  const mine = createSessionClient(again, customer)
  expect(await mine.transcript(id)).toEqual([
    'user: Look at both.',
    'assistant: null',
    'tool: Found.',
  ])
  tools.run = () => 'Found again.'
  const answer = await mine.send(id, 'And now?')
  expect(answer.status).toBe(201)
  expect(await mine.transcript(id)).toHaveLength(7)
  await scrapeWhenBooked(await internalUrl(again))
  await expectSoundLedger(sql)
})

test('a stopping node does not wait for a tool: the client receives an error', async () => {
  await using gateway = await startGateway({
    ...options,
    environment: { ...options.environment, DRAIN_SECONDS: '1' },
  })
  const theirs = createSessionClient(gateway, await gateway.customer())
  tools.run = () => new Promise(() => undefined)
  const [plain, streaming] = [
    await theirs.session({ modelId: 'sandbox/tools' }),
    await theirs.session({ modelId: 'sandbox/tools' }),
  ]
  await equip(plain)
  await equip(streaming)
  tools.ran = []
  const pending = [theirs.send(plain, 'Look.'), theirs.stream(streaming, 'Look.')] as const
  await eventually(async () => tools.ran.length === 2)
  expect(await gateway.stop()).toBe(0)
  const [refused, cut] = await Promise.all(pending)
  expect([refused.status, refused.error.code]).toEqual([503, 'gateway_unavailable'])
  expect(refused.headers.get('x-should-retry')).toBe('false')
  expect([cut.status, cut.error.code, cut.isDone]).toEqual([200, 'gateway_unavailable', false])
})
